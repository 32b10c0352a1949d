// SPDX-License-Identifier: GPL-2.0-or-later
// Includes c-client's header without the macros that are not valid in C++. Files that include it are
// compiled with -fno-operator-names, since the header names things "and", "or" and "not".
#pragma once

// What would not survive these macros comes first.
#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <c-client/c-client.h>

#undef and
#undef or
#undef not
#undef min
#undef max
#undef direct
#undef T
