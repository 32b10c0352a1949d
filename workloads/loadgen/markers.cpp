// SPDX-License-Identifier: GPL-2.0-or-later
#include "markers.hpp"

#include <sched.h>

namespace s80::loadgen::marker {

namespace {

bool gem5 = false;

}  // namespace

void use_gem5() {
    gem5 = true;
}

bool in_gem5() {
    return gem5;
}

void bind_cores() {
    cpu_set_t all;
    CPU_ZERO(&all);
    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &all)) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one) == 0) core(cpu);
    }
    sched_setaffinity(0, sizeof all, &all);
}

}  // namespace s80::loadgen::marker
