// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/** A warehouse, its districts and its books. One thread works in it, that of the client who has claimed it. */
final class Warehouse {
    private static final int FEWEST_LINES = 5;
    private static final int MOST_LINES = 15;
    private static final int MOST_PIECES = 10;
    private static final int MOST_CENTS = 500_000;

    final int number;
    final Sizes sizes;
    private final Map<Integer, Item> items;
    private final Map<Integer, Stock> stock = new HashMap<>();
    private final List<District> districts = new ArrayList<>();
    private final AtomicBoolean claimed = new AtomicBoolean();
    private long placed;
    private long delivered;
    private long payments;

    Warehouse(int number, Sizes sizes, Map<Integer, Item> items) {
        this.number = number;
        this.sizes = sizes;
        this.items = items;
        Draws draws = new Draws(number);
        for (int i = 0; i < sizes.items(); ++i) stock.put(i, new Stock(Names.of(draws.below(1 << 30), 3), 10 + draws.below(90)));
        for (int i = 0; i < sizes.districts(); ++i) districts.add(new District(i, sizes));
        for (int i = 0; i < sizes.filled(); ++i) place(((long) number << 32) + i);
        for (int i = 0; i < sizes.rounds(); ++i) districts.forEach(this::deliver);
    }

    /** Whether the caller is the first to ask. */
    boolean claim() {
        return claimed.compareAndSet(false, true);
    }

    District district(int district) {
        return districts.get(district);
    }

    List<District> districts() {
        return districts;
    }

    Stock stock(Item item) {
        return stock.get(item.number());
    }

    /** The order of that reference. */
    Order place(long reference) {
        Draws draws = new Draws(reference);
        District district = districts.get(draws.below(sizes.districts()));
        Order order = district.order(reference, district.customer(draws.below(sizes.customers())));
        int lines = FEWEST_LINES + draws.below(MOST_LINES - FEWEST_LINES + 1);
        for (int i = 0; i < lines; ++i) {
            long bits = draws.bits();
            Item item = items.get(Draws.high(bits, sizes.items()));
            int quantity = 1 + Draws.low(bits, MOST_PIECES);
            Stock held = stock(item);
            held.take(quantity);
            order.add(item, quantity, held);
        }
        ++placed;
        return order;
    }

    /** The oldest order of a district that is not delivered yet; null where there is none. */
    Order deliver(District district) {
        Order order = district.oldestUndelivered();
        if (order == null) return null;
        order.deliver();
        ++delivered;
        return order;
    }

    /** The payment of that reference, of a customer by number or by name; tells who paid. */
    Customer pay(long reference) {
        Draws draws = new Draws(reference);
        District district = districts.get(draws.below(sizes.districts()));
        int drawn = draws.below(sizes.customers());
        int amount = 100 + draws.below(MOST_CENTS);
        Customer customer = (amount & 1) == 0 ? district.customer(drawn) : district.customerNamed(Customer.nameOf(drawn));
        customer.paid(reference, amount);
        district.pay(amount);
        ++payments;
        return customer;
    }

    long placed() {
        return placed;
    }

    long delivered() {
        return delivered;
    }

    long payments() {
        return payments;
    }

    /** In cents, all payments. */
    long received() {
        long sum = 0;
        for (District district : districts) sum += district.received();
        return sum;
    }
}
