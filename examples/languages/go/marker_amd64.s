// SPDX-License-Identifier: GPL-2.0-or-later
// The markers of workloads/exec/s80lab.h.
#include "textflag.h"

TEXT ·s80labBegin(SB), NOSPLIT, $0-0
	BYTE $0x0f; BYTE $0x1f; BYTE $0x80; BYTE $0x08; BYTE $0x00; BYTE $0x38; BYTE $0x53
	RET

TEXT ·s80labEnd(SB), NOSPLIT, $0-0
	BYTE $0x0f; BYTE $0x1f; BYTE $0x80; BYTE $0x09; BYTE $0x00; BYTE $0x38; BYTE $0x53
	RET
