// SPDX-License-Identifier: GPL-2.0-or-later
// Two threads count in one line: of a static variable, and of an object of the heap.
//   rustc -g -O counter.rs
//   s80lab exec --markers -- ./counter
use std::arch::asm;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::thread;

struct Totals {
    reads: AtomicU64,
    writes: AtomicU64,
}

static TOTALS: Totals = Totals { reads: AtomicU64::new(0), writes: AtomicU64::new(0) };

macro_rules! s80lab_begin {
    () => {
        unsafe { asm!(".byte 0x0f, 0x1f, 0x80, 0x08, 0x00, 0x38, 0x53", options(nostack, preserves_flags)) }
    };
}
macro_rules! s80lab_end {
    () => {
        unsafe { asm!(".byte 0x0f, 0x1f, 0x80, 0x09, 0x00, 0x38, 0x53", options(nostack, preserves_flags)) }
    };
}

fn main() {
    let shared = Arc::new(Totals { reads: AtomicU64::new(0), writes: AtomicU64::new(0) });
    let other = Arc::clone(&shared);
    let both = Arc::new(Barrier::new(2));
    let ready = Arc::clone(&both);
    let writer = thread::spawn(move || {
        ready.wait();
        for _ in 0..50_000 {
            TOTALS.writes.fetch_add(1, Relaxed);
            other.writes.fetch_add(1, Relaxed);
        }
    });
    both.wait();
    s80lab_begin!();
    for _ in 0..50_000 {
        TOTALS.reads.fetch_add(1, Relaxed);
        shared.reads.fetch_add(1, Relaxed);
    }
    writer.join().unwrap();
    s80lab_end!();
    println!("{} {}", TOTALS.reads.load(Relaxed), shared.writes.load(Relaxed));
}
