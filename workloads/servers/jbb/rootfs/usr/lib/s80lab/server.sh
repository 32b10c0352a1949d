# SPDX-License-Identifier: GPL-2.0-or-later
# The warehouse application: 32 warehouses in one JVM, for as many clients at most.

JBB_LOG=/run/jbb.log

server_start() {
    users=$(parameter users 4)
    warehouses=$((users < 32 ? users : 32))
    # together as large as the mail would be, 20 MiB each at most
    kib=$((users * $(parameter mailboxes 6) * $(parameter mailbox_kib 64) / warehouses))
    [ $kib -le 20480 ] || kib=20480
    # In MiB: the heap holds what lives twice, and a quarter as much of it are new objects, beside what each JVM needs.
    # It is all touched first, its parts keep their sizes, and one thread a processor collects it: nothing depends on
    # how long something took.
    live=$((warehouses * kib / 1024))
    heap=$((2 * live + 64)) young=$((live / 4 + 16))
    # -Xrs, no performance data, no look at containers: the JVM asks nothing of its surroundings.
    start_server "the warehouse application" $JBB_LOG /usr/lib/jvm/java-17-openjdk-amd64/bin/java -Xrs -XX:-UsePerfData -XX:-UseContainerSupport \
        -Xms${heap}m -Xmx${heap}m -Xmn${young}m -XX:+AlwaysPreTouch -XX:+UseParallelGC -XX:-UseAdaptiveSizePolicy \
        -XX:ParallelGCThreads="$cpus" -XX:-UseDynamicNumberOfGCThreads \
        -jar /usr/bin/s80-jbb.jar 2000 $warehouses $kib 20000
    await 120 "the warehouse application (port 2000)" $JBB_LOG grep -q '^port 2000$' $JBB_LOG
}
