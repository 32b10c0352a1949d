// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

import java.util.ArrayDeque;
import java.util.Deque;

/** A customer of a district, with the latest of what it ordered and paid. Money is in cents. */
final class Customer {
    private static final int NAMES = 100;
    private static final int REMEMBERED = 10;

    final int number;
    final String name;
    final String address;
    final String remarks;
    private final Deque<Payment> payments = new ArrayDeque<>();
    private Order latest;
    private long balance;

    record Payment(long reference, int amount) {}

    Customer(int number) {
        this.number = number;
        name = nameOf(number);
        address = Names.of(~number, 4);
        remarks = Names.of(-number, 16);
    }

    /** Several customers share a name. */
    static String nameOf(int number) {
        return Names.of(number % NAMES, 1);
    }

    /** Percent of an order's total that this customer need not pay. */
    int discount() {
        return number % 20;
    }

    long balance() {
        return balance;
    }

    Order latest() {
        return latest;
    }

    Iterable<Payment> payments() {
        return payments;
    }

    void ordered(Order order) {
        latest = order;
    }

    void received(long total) {
        balance += total;
    }

    void paid(long reference, int amount) {
        balance -= amount;
        payments.addLast(new Payment(reference, amount));
        if (payments.size() > REMEMBERED) payments.removeFirst();
    }
}
