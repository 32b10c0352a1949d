// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

/** Words that follow from a number. */
final class Names {
    private static final String[] SYLLABLES = {
        "bel", "cor", "dan", "fir", "gol", "han", "lum", "mar", "nor", "pel", "ros", "sil", "tan", "ver", "wol", "zan",
    };

    private Names() {}

    /** So many words of three syllables, with a blank between each two. */
    static String of(int number, int words) {
        Draws draws = new Draws(number);
        StringBuilder text = new StringBuilder();
        for (int word = 0; word < words; ++word) {
            if (word > 0) text.append(' ');
            for (int i = 0; i < 3; ++i) text.append(SYLLABLES[draws.below(SYLLABLES.length)]);
        }
        return text.toString();
    }
}
