// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

/** What a clerk would see of a transaction: lines of one width. */
final class Screen {
    static final int WIDTH = 64;

    private final StringBuilder text = new StringBuilder();
    private int begin;
    private long shown;

    /** A new, empty one. */
    void clear() {
        shown += text.length();
        text.setLength(0);
        begin = 0;
    }

    /** Characters since the last call. */
    long characters() {
        clear();
        long all = shown;
        shown = 0;
        return all;
    }

    /** A text in a column: cut, or filled up with blanks. */
    Screen put(String value, int width) {
        int end = text.length() + width;
        text.append(value, 0, Math.min(value.length(), width));
        while (text.length() < end) text.append(' ');
        return this;
    }

    /** A number at the right of its column. */
    Screen put(long value, int width) {
        return right(Long.toString(value), width);
    }

    /** Cents, as money. */
    Screen money(long cents, int width) {
        long amount = Math.abs(cents);
        long rest = amount % 100;
        return right((cents < 0 ? "-" : "") + amount / 100 + (rest < 10 ? ".0" : ".") + rest, width);
    }

    void end() {
        put("", Math.max(0, begin + WIDTH - 1 - text.length()));
        text.setLength(begin + WIDTH - 1);
        text.append('\n');
        begin = text.length();
    }

    private Screen right(String value, int width) {
        for (int i = value.length(); i < width; ++i) text.append(' ');
        text.append(value);
        return this;
    }
}
