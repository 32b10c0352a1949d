// SPDX-License-Identifier: GPL-2.0-or-later
package jbb;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** A client's connection and its thread: it opens a warehouse, then each line is a request that one line answers. */
final class Session implements Runnable {
    private static final int MOST = 100_000;

    private final Socket socket;
    private final List<Warehouse> warehouses;
    private final Screen screen = new Screen();
    private Warehouse warehouse;

    Session(Socket socket, List<Warehouse> warehouses) {
        this.socket = socket;
        this.warehouses = warehouses;
    }

    @Override
    public void run() {
        try (socket) {
            socket.setTcpNoDelay(true);
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            OutputStream out = socket.getOutputStream();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.write((answer(line) + "\n").getBytes(StandardCharsets.ISO_8859_1));
            }
        } catch (IOException gone) {
            // So is the client.
        }
    }

    private String answer(String line) {
        String[] words = line.split(" ");
        try {
            if (words.length == 2 && words[0].equals("OPEN")) return open(Integer.parseInt(words[1]));
            Transaction transaction = Transaction.named(words[0]);
            if (transaction == null || words.length != 3) return "ERR no such request: " + line;
            if (warehouse == null) return "ERR no warehouse is open";
            int count = Integer.parseInt(words[1]);
            if (count < 1 || count > MOST) return "ERR a count is from 1 to " + MOST;
            return words[0] + join(perform(transaction, count, Long.parseLong(words[2])));
        } catch (NumberFormatException error) {
            return "ERR not a number in: " + line;
        }
    }

    private String open(int number) {
        if (number < 1 || number > warehouses.size()) return "ERR there are warehouses 1 to " + warehouses.size();
        if (!warehouses.get(number - 1).claim()) return "ERR warehouse " + number + " has been opened by another client";
        warehouse = warehouses.get(number - 1);
        Sizes sizes = warehouse.sizes;
        return "OPEN" + join(sizes.districts(), sizes.customers(), sizes.items(), sizes.filled(), sizes.rounds());
    }

    private long[] perform(Transaction transaction, int count, long first) {
        long[] numbers = transaction.run(warehouse, count, first, screen);
        long[] reply = Arrays.copyOf(numbers, numbers.length + 1);
        reply[numbers.length] = screen.characters();
        return reply;
    }

    private static String join(long... numbers) {
        StringBuilder text = new StringBuilder();
        for (long number : numbers) text.append(' ').append(number);
        return text.toString();
    }
}
