// SPDX-License-Identifier: GPL-2.0-or-later
#include "markers.h"

#include "cpus.h"

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
    on_each_cpu(core);
}

}  // namespace s80::loadgen::marker
