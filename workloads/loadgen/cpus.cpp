// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpus.hpp"

#include <sched.h>

namespace s80::loadgen {

void on_each_cpu(const std::function<void(unsigned cpu)>& visit) {
    cpu_set_t all;
    CPU_ZERO(&all);
    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &all)) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one) == 0) visit(cpu);
    }
    sched_setaffinity(0, sizeof all, &all);
}

}  // namespace s80::loadgen
