// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

/** DLVR: of each district the oldest order that waits for it is delivered. */
final class Delivery implements Transaction {
    @Override
    public long[] run(Warehouse warehouse, int count, long first, Screen screen) {
        long value = 0;
        for (int i = 0; i < count; ++i) {
            screen.clear();
            screen.put("Delivery", 10).put(i + 1, 6).end();
            for (District district : warehouse.districts()) {
                Order order = warehouse.deliver(district);
                screen.put("District", 10).put(district.number, 4);
                if (order == null) {
                    screen.put("  nothing", 20).end();
                } else {
                    screen.put(order.number, 9).put("  ", 2).put(order.customer.name, 20).money(order.total(), 12).end();
                    value += order.total();
                }
            }
        }
        return new long[] {warehouse.delivered(), value};
    }
}
