// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

/** PAYM: customers pay. */
final class Payment implements Transaction {
    @Override
    public long[] run(Warehouse warehouse, int count, long first, Screen screen) {
        for (int i = 0; i < count; ++i) {
            Customer customer = warehouse.pay(first + i);
            screen.clear();
            screen.put("Payment", 10).put(customer.number, 6).put("  ", 2).put(customer.name, 20).end();
            screen.put(customer.address, Screen.WIDTH).end();
            screen.put(customer.remarks, Screen.WIDTH).end();
            screen.put("Balance", 10).money(customer.balance(), 16).end();
        }
        return new long[] {warehouse.payments(), warehouse.received()};
    }
}
