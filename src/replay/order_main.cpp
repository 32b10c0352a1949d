// SPDX-License-Identifier: GPL-2.0-or-later
// s80-order: converts between full captures and totally ordered traces.
#include "replay/order_commands.h"

int main(int argc, char** argv) {
    using namespace s80::replay;
    return run_program("s80-order",
                       {{"export", export_order, {"capture", "machine", "protocol", "out", "first", "count"}},
                        {"import", import_order, {"order", "machine", "out", "lines", "protocol", "origin"}},
                        {"info", capture_info, {"capture"}}},
                       argc, argv);
}
