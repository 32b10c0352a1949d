// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Warehouses in memory, and a thread for each client that works in one. */
public final class Server {
    private static final String USAGE = "usage: s80-jbb.jar PORT WAREHOUSES KIB REHEARSAL";
    private static final String[] TRANSACTIONS = {"NEWO", "PAYM", "ORDS", "DLVR", "STCK", "CUST"};
    private static final int IN_A_ROW = 100;

    private Server() {}

    /**
     * @param words the port (0: any) on 127.0.0.1; warehouses; KiB of each; how often each transaction is done in a
     *     warehouse of nobody's before the first client comes, so that the compilers have been at work
     */
    public static void main(String[] words) throws IOException {
        int[] options = numbers(words);
        Sizes sizes = Sizes.of(options[2]);
        Map<Integer, Item> items = Item.catalogue(sizes.items());
        rehearse(new Warehouse(0, sizes, items), options[3]);
        List<Warehouse> warehouses = new ArrayList<>();
        for (int number = 1; number <= options[1]; ++number) warehouses.add(new Warehouse(number, sizes, items));
        // What the filling has left behind is gone before the load, and what stays is with the old.
        System.gc();
        try (ServerSocket listener = new ServerSocket(options[0], options[1], InetAddress.getLoopbackAddress())) {
            System.out.println("port " + listener.getLocalPort());
            while (true) new Thread(new Session(listener.accept(), warehouses), "warehouse").start();
        }
    }

    private static int[] numbers(String[] words) {
        try {
            int[] numbers = Arrays.stream(words).mapToInt(Integer::parseUnsignedInt).toArray();
            boolean allowed = numbers.length == 4 && numbers[0] <= 65535 && numbers[1] > 0;
            if (allowed && Arrays.stream(numbers).allMatch(number -> number >= 0)) return numbers;
        } catch (NumberFormatException error) {
            // The usage says what is allowed.
        }
        System.err.println(USAGE);
        System.exit(2);
        return null;
    }

    private static void rehearse(Warehouse warehouse, int times) {
        Screen screen = new Screen();
        for (int i = 0; i < times; i += IN_A_ROW) {
            for (String name : TRANSACTIONS) Transaction.named(name).run(warehouse, IN_A_ROW, i, screen);
        }
    }
}
