// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

namespace s80::uw {

/// c-client's attributes of a mailbox, in the form of LIST.
std::string list_attributes(long bits);

}  // namespace s80::uw
