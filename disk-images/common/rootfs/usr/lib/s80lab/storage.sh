# SPDX-License-Identifier: GPL-2.0-or-later
# Where the mail lies: in memory, or on disks (boot parameter s80.storage=disk), of which docs/guides/disks.md tells. init sources
# this file. A disk is the kernel's null_blk with memory behind it. It has place for one request, and ends it by a timer:
# so it serves one after the other, and those that wait stand in the elevator's queue.

MAIL=/var/mail-store
DISKS=/sys/kernel/config/nullb

put() { echo "$2" > "$1" || fail "cannot write $2 to $1"; }

# each_disk COMMAND...: the command with each disk's name behind it
each_disk() {
    for number in $(seq 0 $(($(parameter disks 1) - 1))); do
        "$@" "nullb$number" || fail "disk $number: $* failed"
    done
}

# power_on COMPLETION NANOSECONDS DISK: with requests that end at once (0) or by a timer (2) after so much virtual time.
# What is written on a disk outlasts its being off.
power_on() {
    put "$DISKS/$3/irqmode" "$1"
    put "$DISKS/$3/completion_nsec" "$2"
    put "$DISKS/$3/power" 1
    put "/sys/block/$3/queue/scheduler" mq-deadline  # an elevator, which sorts what waits by place
    put "/sys/block/$3/queue/nr_requests" 128        # in its queue, which would have place for two
    put "/sys/block/$3/queue/rotational" 1
}

power_off() { put "$DISKS/$1/power" 0; }

new_disk() {
    mkdir "$DISKS/$1" || return
    for setting in "size $(parameter disk_mib 64)" "blocksize 4096" "memory_backed 1" "queue_mode 2" "submit_queues 1" \
        "hw_queue_depth 1"; do
        put "$DISKS/$1/${setting% *}" "${setting#* }"
    done
    power_on 0 0 "$1"
    # an inode for each 4 KiB, since a message may be a file
    mke2fs -F -b 4096 -i 4096 -m 0 "/dev/$1" > /dev/null && mkdir -p "/mnt/$1"
}

mount_disk() { mount -t ext2 -o noatime "/dev/$1" "/mnt/$1"; }
unmount_disk() { umount "/mnt/$1"; }

# The users by turns on the disks.
give_homes() {
    disks=$(parameter disks 1)
    for user in $(seq 1 "$(parameter users 4)"); do
        name=$(printf user%03d "$user")
        home=/mnt/nullb$(((user - 1) % disks))/$name
        mkdir "$home" && ln -s "$home" "$MAIL/$name" || fail "the home of $name cannot be created"
    done
}

start_reading() { { find "/mnt/$1" -type f -exec cat {} + > /dev/null || fail "$1 cannot be read"; } & }

# A place for the mail store, without any delays while it is written
open_storage() {
    case $(parameter storage memory) in
        memory)
            # the default, half the memory, is too little for mail that fills most of it
            mount -t tmpfs -o noatime,size=95%,mode=755 mail $MAIL
            ;;
        disk)
            modules=/lib/modules/$(uname -r)/kernel
            insmod "$modules/fs/configfs/configfs.ko" && insmod "$modules/drivers/block/null_blk/null_blk.ko" nr_devices=0 \
                || fail "the kernel module null_blk cannot be loaded"
            mount -t configfs -o noatime config /sys/kernel/config
            each_disk new_disk
            each_disk mount_disk
            give_homes
            # what is written is waited for; in memory there is nothing to wait for
            echo "mail_fsync = optimized" > /run/s80lab/storage.conf
            ;;
        *) fail "unknown storage: $(parameter storage memory)" ;;
    esac
}

# The mail store is written: as the servers are to find it
settle_storage() {
    if [ "$(parameter storage memory)" = memory ]; then
        # The kernel moves a page of a file from one list to another when it is read for the first time and for the
        # second: it does so here, not while the machine is measured.
        for reading in 1 2; do
            find $MAIL -type f -exec cat {} + > /dev/null || fail "the mail store cannot be read"
        done
        return
    fi
    each_disk unmount_disk
    each_disk power_off
    each_disk power_on 2 "$(parameter disk_ns 0)"
    each_disk mount_disk
    # As much of the mail as the page cache holds is in it when the load begins; all disks read at once.
    each_disk start_reading
    wait
}
