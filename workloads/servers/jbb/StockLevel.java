// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

import java.util.HashSet;
import java.util.Set;

/** STCK: which items of a district's latest orders are running short. */
final class StockLevel implements Transaction {
    private static final int ORDERS = 20;

    @Override
    public long[] run(Warehouse warehouse, int count, long first, Screen screen) {
        long lines = 0;
        long all = 0;
        for (int i = 0; i < count; ++i) {
            Draws draws = new Draws(first + i);
            District district = warehouse.district(draws.below(warehouse.sizes.districts()));
            int threshold = 10 + draws.below(11);
            Set<Integer> items = new HashSet<>();
            Set<Integer> low = new HashSet<>();
            for (Order order : district.latest(ORDERS)) {
                for (Order.Line line : order.lines()) {
                    ++lines;
                    items.add(line.item().number());
                    if (warehouse.stock(line.item()).quantity() < threshold) low.add(line.item().number());
                }
            }
            all += low.size();
            screen.clear();
            screen.put("District", 10).put(district.number, 4).put("  items", 10).put(items.size(), 6).end();
            screen.put("below", 10).put(threshold, 4).put("  items", 10).put(low.size(), 6).end();
        }
        return new long[] {lines, all};
    }
}
