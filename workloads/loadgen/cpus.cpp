// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpus.h"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "failure.h"

namespace s80::loadgen {

void on_each_cpu(const std::function<void(unsigned cpu)>& visit) {
    static const long count = sysconf(_SC_NPROCESSORS_CONF);
    cpu_set_t own;
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof own, &own) != 0) {
        return;
    }
    for (unsigned cpu = 0; cpu < count; ++cpu) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one) == 0) {
            visit(cpu);
        }
    }
    sched_setaffinity(0, sizeof own, &own);
}

void run_before_others() {
    const sched_param lowest{.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    if (sched_setscheduler(0, SCHED_FIFO, &lowest) != 0) {
        throw Fatal("the load generator cannot run in real time: " + std::string(std::strerror(errno)));
    }
}

}  // namespace s80::loadgen
