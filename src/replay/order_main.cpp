// SPDX-License-Identifier: GPL-2.0-or-later
// s80-order: converts full captures to totally ordered traces, and traces to captures.
#include <cstdio>
#include <string>

#include "replay/order_commands.h"

int main(int argc, char** argv) {
    using namespace s80::replay;
    const std::string first = argc > 1 ? argv[1] : "";
    if (first == "step" || first == "count") {  // older versions of s80-order had these commands
        std::fprintf(stderr, "s80-order: %s is a command of another program: write s80-step %s\n",
                     first.c_str(), first.c_str());
        return 1;
    }
    return run_program(
        "s80-order",
        {{"export", export_order, {"capture", "machine", "protocol", "out", "first", "count", "state"}},
         {"import", import_order, {"order", "machine", "out", "lines", "protocol", "origin", "counted"}},
         {"info", capture_info, {"capture"}}},
        argc, argv);
}
