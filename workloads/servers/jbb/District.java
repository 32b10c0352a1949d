// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The customers of a part of a warehouse's country, and their latest orders. */
final class District {
    final int number;
    private final Map<Integer, Customer> customers = new HashMap<>();
    private final TreeMap<String, List<Customer>> byName = new TreeMap<>();
    private final TreeMap<Integer, Order> orders = new TreeMap<>();
    private final Deque<Order> undelivered = new ArrayDeque<>();
    private final int kept;
    private int next = 1;
    private long received;

    District(int number, Sizes sizes) {
        this.number = number;
        kept = sizes.orders();
        for (int i = 0; i < sizes.customers(); ++i) {
            Customer customer = new Customer(i);
            customers.put(i, customer);
            byName.computeIfAbsent(customer.name, name -> new ArrayList<>()).add(customer);
        }
    }

    Customer customer(int customer) {
        return customers.get(customer);
    }

    /** The middle one of those of that name. */
    Customer customerNamed(String name) {
        List<Customer> found = byName.get(name);
        return found.get(found.size() / 2);
    }

    /** A new order; the oldest that was delivered makes place for it. */
    Order order(long reference, Customer customer) {
        Order order = new Order(next++, reference, customer);
        orders.put(order.number, order);
        undelivered.addLast(order);
        customer.ordered(order);
        while (orders.size() > kept && orders.firstEntry().getValue().delivered()) orders.pollFirstEntry();
        return order;
    }

    /** Null where all has been delivered. */
    Order oldestUndelivered() {
        return undelivered.pollFirst();
    }

    /** Not more than so many. */
    Collection<Order> latest(int most) {
        return orders.tailMap(next - most).values();
    }

    void pay(int amount) {
        received += amount;
    }

    long received() {
        return received;
    }
}
