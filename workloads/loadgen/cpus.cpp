// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpus.hpp"

#include <sched.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "failure.hpp"

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

void run_before_others() {
    const sched_param lowest{.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    if (sched_setscheduler(0, SCHED_FIFO, &lowest) != 0)
        throw Fatal("the load generator cannot run in real time: " + std::string(std::strerror(errno)));
}

}  // namespace s80::loadgen
