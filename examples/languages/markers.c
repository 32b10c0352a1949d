/* SPDX-License-Identifier: GPL-2.0-or-later
 * The markers as functions, for languages that call C: see counter.py. */
#include "../../workloads/exec/s80lab.h"

void s80lab_begin(void) {
    S80LAB_BEGIN();
}
void s80lab_end(void) {
    S80LAB_END();
}
