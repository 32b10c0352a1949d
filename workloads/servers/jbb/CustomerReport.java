// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

/** CUST: what customers ordered last, what they paid, and what they owe. */
final class CustomerReport implements Transaction {
    @Override
    public long[] run(Warehouse warehouse, int count, long first, Screen screen) {
        for (int i = 0; i < count; ++i) {
            Customer customer = OrderStatus.asking(warehouse, first + i);
            screen.clear();
            screen.put("Customer", 10).put(customer.number, 6).put("  ", 2).put(customer.name, 20).end();
            screen.put(customer.address, Screen.WIDTH).end();
            if (customer.latest() != null) NewOrder.show(customer.latest(), screen);
            for (Customer.Payment payment : customer.payments()) {
                screen.put("Paid", 10).put(Long.toHexString(payment.reference()), 20).money(payment.amount(), 16).end();
            }
            screen.put("Balance", 30).money(customer.balance(), 16).end();
        }
        return new long[] {warehouse.placed(), warehouse.delivered(), warehouse.payments(), warehouse.received()};
    }
}
