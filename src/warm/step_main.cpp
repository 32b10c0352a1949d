// SPDX-License-Identifier: GPL-2.0-or-later
// s80-step: plays a totally ordered trace on the model, and prints each step or counts. It links only the
// model, so that the first lesson can be compiled without the libraries that captures need (scripts/build
// lesson).
#include "warm/order_warm.h"

int main(int argc, char** argv) {
    using namespace s80::replay;
    return run_program(
        "s80-step",
        {{"step", step_order, {"order", "machine", "protocol", "state", "save", "lines"}},
         {"count",
          count_order,
          {"order", "machine", "protocol", "state", "lines", "spare_cores", "spare_sets"}},
         {"vocabulary", print_vocabulary, {}},
         {"machine-keys", print_machine_keys, {}},
         {"warm", warm_order, {"order", "machine", "protocol", "lines", "out"}},
         {"rebuild", rebuild_order, {"state", "machine", "protocol", "lines", "out", "assumed"}}},
        argc, argv);
}
