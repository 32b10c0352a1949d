// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

/** One kind of work in a warehouse. What it is done to follows from a reference, which a client draws. */
interface Transaction {
    /**
     * Does it `count` times, by the references from `first` on, and shows each on the screen.
     *
     * @return the numbers of the reply (docs/reference/interfaces/own-servers.md); the screen's characters follow them
     */
    long[] run(Warehouse warehouse, int count, long first, Screen screen);

    /** By its name in a request; null where there is none. */
    static Transaction named(String name) {
        return switch (name) {
            case "NEWO" -> new NewOrder();
            case "PAYM" -> new Payment();
            case "ORDS" -> new OrderStatus();
            case "DLVR" -> new Delivery();
            case "STCK" -> new StockLevel();
            case "CUST" -> new CustomerReport();
            default -> null;
        };
    }
}
