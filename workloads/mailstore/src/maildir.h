// SPDX-License-Identifier: GPL-2.0-or-later
// A message as it lies in a maildir: a file of its own, its flags in the file's name.
#pragma once

#include <string>
#include <string_view>

#include "message.h"

namespace s80::mailstore {

struct MaildirMessage {
    std::string name;  // of the file in cur/
    std::string text;
};

/// What append_message() made, without what an mbox file adds: the From_ line, the header lines in which a
/// server keeps UID and flags, the empty line behind it.
MaildirMessage maildir_message(std::string_view mbox_message, const Position& position);

}  // namespace s80::mailstore
