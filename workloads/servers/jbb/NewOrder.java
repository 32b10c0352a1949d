// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

/** NEWO: customers order. */
final class NewOrder implements Transaction {
    @Override
    public long[] run(Warehouse warehouse, int count, long first, Screen screen) {
        long lines = 0;
        long total = 0;
        for (int i = 0; i < count; ++i) {
            Order order = warehouse.place(first + i);
            screen.clear();
            show(order, screen);
            lines += order.lines().size();
            total += order.total();
        }
        return new long[] {warehouse.placed(), lines, total};
    }

    /** A head, a line for each of the order's, the total. */
    static void show(Order order, Screen screen) {
        screen.put("Order", 6).put(order.number, 9).put("  ", 2).put(order.customer.name, 20).end();
        for (Order.Line line : order.lines()) {
            screen.put(line.item().number(), 6).put("  ", 2).put(line.item().name(), 20).put(line.quantity(), 4)
                    .put(line.stock().quantity(), 5).money(line.item().price(), 9).money(line.amount(), 11).end();
        }
        screen.put("Total less discount", 46).money(order.total(), 12).end();
    }
}
