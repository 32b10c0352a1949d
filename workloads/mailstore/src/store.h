// SPDX-License-Identifier: GPL-2.0-or-later
// The whole mail store: an INBOX and folders for each user, with the same messages in every format.
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace s80::mailstore {

enum class Format : std::uint8_t {
    mbox,     // ROOT/USER/inbox, and a file for each folder in ROOT/USER/mail
    maildir,  // ROOT/USER/Maildir, and .FOLDER in it (Maildir++)
    imap,     // ROOT/USER.imap: what a client sends to put the mail into a server
};

struct StoreOptions {
    std::filesystem::path root;
    std::uint32_t users = 0;
    std::uint32_t mailboxes = 0;    // mean a user, INBOX included; single users have up to two more or fewer
    std::uint32_t mailbox_kib = 0;  // mean size of a mailbox in KiB
    std::uint64_t seed = 0;
    Format format = Format::mbox;
    std::optional<uid_t> uid;  // owner (and group) of all that is made; absent: the caller
};

/// Number of mailboxes of a user (counted from 0): mailboxes-2 .. mailboxes+2, with the exact mean over any
/// five users in a row.
std::uint32_t mailbox_count(const StoreOptions& options, std::uint32_t user);

/// Account name of a user counted from 0: user001, user002, ...
std::string user_name(std::uint32_t user);

/// Builds the store. `progress` is called after each user. A user's mail depends only on the seed and the
/// user's number. Throws std::system_error that names the file that could not be created.
void build_store(const StoreOptions& options, const std::function<void(std::uint32_t users_done)>& progress);

}  // namespace s80::mailstore
