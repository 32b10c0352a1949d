// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

import java.util.ArrayList;
import java.util.List;

/** What a customer ordered. `reference` is the client's: all of the order follows from it. */
final class Order {
    final int number;
    final long reference;
    final Customer customer;
    private final List<Line> lines = new ArrayList<>();
    private boolean delivered;

    record Line(Item item, int quantity, int amount, Stock stock) {}

    Order(int number, long reference, Customer customer) {
        this.number = number;
        this.reference = reference;
        this.customer = customer;
    }

    void add(Item item, int quantity, Stock stock) {
        lines.add(new Line(item, quantity, quantity * item.price(), stock));
    }

    List<Line> lines() {
        return lines;
    }

    /** In cents, by its lines and the customer's discount. */
    long total() {
        long sum = 0;
        for (Line line : lines) sum += line.amount();
        return sum * (100 - customer.discount()) / 100;
    }

    boolean delivered() {
        return delivered;
    }

    void deliver() {
        delivered = true;
        customer.received(total());
    }
}
