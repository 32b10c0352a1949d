# SPDX-License-Identifier: GPL-2.0-or-later
"""Small programs whose variables have known names. Each prints the address of everything that a test asks for."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

C = r"""
#include <stddef.h>
#include <stdio.h>
enum kind { READ, WRITE };
struct node { struct node *next; int key; };
typedef struct stat {
    long hits;
    char gap[24];
    union { int whole; short halves[2]; };
    struct { int first, second; } pair;
    unsigned low : 3, high : 13, far : 20;
    enum kind kind;
    void (*call)(int);
} stat_t;
static volatile stat_t stats[8];
struct node nodes[2][3];
struct { int count; short items[]; } open_ended = {3, {1, 2, 3}};
struct { int count; struct node items[0]; } old_ended;
const struct node *const list = &nodes[1][2];
__thread long counters[4] = {1};
static __thread struct node last __attribute__((aligned(64)));
int calls(void) {
    static struct node called[2];
    return called[1].key++;
}
static int other(void) {
    static long called;
    return (int)++called;
}
#define SHOW(expression) printf("%lx " #expression "\n", (unsigned long)&(expression))
#define LOCAL(expression) \
    printf("%ld " #expression "\n", (long)((char *)&(expression) - (char *)__builtin_thread_pointer()))
extern char __executable_start[] __attribute__((weak));
int show(void) {
    SHOW(stats);
    SHOW(nodes);
    SHOW(open_ended);
    SHOW(list);
    stats[3].hits++;
    counters[1]++;
    old_ended.count++;
    last.key++;
    LOCAL(counters[2]);
    LOCAL(last.key);
    return calls() + other() + list->key;
}
#ifdef PROGRAM
int main(void) { return show() & 0; }
#endif
"""

CXX = r"""
#include <array>
#include <atomic>
#include <string>
namespace ns {
struct base { long id; virtual ~base() {} };
struct queue : base {
    std::atomic<queue *> head;
    std::atomic<int> size;
    std::array<std::atomic<long>, 4> lanes;
    static queue shared;
    static int count;
    int count_calls();
    struct inner { int depth; static inner deepest; };
};
queue queue::shared;
int queue::count = 7;
queue::inner queue::inner::deepest;
int queue::count_calls() {
    static std::atomic<int> calls;
    return ++calls;
}
inline namespace v2 { template <typename T> struct box { T first; T second; }; }
box<box<short>> boxes[3];
}
namespace { long hidden[2]; }
template <typename T> T &single() { static T one[2]; return one[1]; }
inline int shared_inline = 4;
std::string text;
int touch(int i) {
    hidden[i & 1]++;
    ns::queue::shared.size++;
    single<double>() += 1;
    return ns::queue::shared.count_calls() + (int)hidden[1] + ns::boxes[i & 1].first.second + shared_inline;
}
#ifdef PROGRAM
int main() { return touch(0) == 12345; }
#endif
"""

RUST = r"""
use std::sync::atomic::{AtomicUsize, Ordering};
pub mod counters {
    use super::*;
    #[repr(C)]
    pub struct Stat { pub hits: AtomicUsize, pub misses: AtomicUsize }
    const ZERO: Stat = Stat { hits: AtomicUsize::new(0), misses: AtomicUsize::new(0) };
    pub static STATS: [Stat; 4] = [ZERO; 4];
    pub fn calls() -> usize {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        CALLS.fetch_add(1, Ordering::SeqCst)
    }
}
thread_local! { static DEPTH: std::cell::Cell<[u64; 2]> = const { std::cell::Cell::new([0; 2]) }; }
fn main() {
    DEPTH.with(|depth| depth.set([1, 2]));
    counters::STATS[2].misses.fetch_add(counters::calls(), Ordering::SeqCst);
    println!("{}", counters::STATS[2].misses.load(Ordering::SeqCst));
}
"""


def compiled(folder: Path, source: str, options: Sequence[str], name: str = "program") -> Path:
    """The program or library that g++ or gcc makes of a source."""
    compiler, suffix = ("g++", ".cpp") if source is CXX else ("gcc", ".c")
    (folder / f"{name}{suffix}").write_text(source)
    command = [compiler, *options, "-o", name, f"{name}{suffix}"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / name
