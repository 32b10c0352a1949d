// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

/** ORDS: customers ask for the latest of their orders. */
final class OrderStatus implements Transaction {
    @Override
    public long[] run(Warehouse warehouse, int count, long first, Screen screen) {
        long found = 0;
        int at = 0;
        Order last = null;
        for (int i = 0; i < count; ++i) {
            Order order = asking(warehouse, first + i).latest();
            if (order == null) continue;
            ++found;
            at = i;
            last = order;
            screen.clear();
            NewOrder.show(order, screen);
            screen.put(order.delivered() ? "delivered" : "not delivered", 20).end();
        }
        return last == null
                ? new long[5]
                : new long[] {found, at, last.reference, last.lines().size(), last.total()};
    }

    /** Whose the request of that reference is. */
    static Customer asking(Warehouse warehouse, long reference) {
        Draws draws = new Draws(reference);
        District district = warehouse.district(draws.below(warehouse.sizes.districts()));
        return district.customer(draws.below(warehouse.sizes.customers()));
    }
}
