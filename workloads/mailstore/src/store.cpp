// SPDX-License-Identifier: GPL-2.0-or-later
#include "store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "imap_script.h"
#include "maildir.h"
#include "message.h"
#include "sizes.h"

namespace s80::mailstore {

namespace {

constexpr std::int64_t kLastDelivery = 1767225600;  // 2026-01-01 00:00 UTC, when the guest's clock starts
constexpr std::int64_t kMeanGapS = 3600;
constexpr std::string_view kPassword = "secret";  // every account's
constexpr std::size_t kProseBytes = 256 * 1024;
constexpr std::size_t kBase64Bytes = 1024 * 1024;
constexpr auto kMailboxNames = std::to_array<std::string_view>(
    {"sent", "drafts", "archive", "projects", "family", "travel", "receipts", "lists"});

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

void give_to_owner(const std::string& path, const StoreOptions& options) {
    if (options.uid && chown(path.c_str(), *options.uid, *options.uid) != 0) {
        fail(path);
    }
}

void make_folder(const std::string& path, const StoreOptions& options) {
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
        fail(path);
    }
    give_to_owner(path, options);
}

void write_file(const std::string& path, std::string_view content, const StoreOptions& options) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) {
        fail(path);
    }
    while (!content.empty()) {
        const ssize_t written = write(file, content.data(), content.size());
        if (written < 0) {
            close(file);
            fail(path);
        }
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    close(file);
    give_to_owner(path, options);
}

std::string folder_name(std::uint32_t index) {
    const std::string name(kMailboxNames[index % kMailboxNames.size()]);
    const auto round = index / kMailboxNames.size();
    return round == 0 ? name : name + std::to_string(round + 1);
}

/// Half to one and a half times the mean, so that mailboxes differ as real ones do.
std::uint32_t message_count(std::uint32_t mailbox_kib, Random& random) {
    const std::uint64_t target = std::uint64_t{mailbox_kib} * 1024;
    const std::uint64_t drawn = target / 2 + target * random.below(1 << 16) / (1 << 16);
    const std::size_t mean = mean_message_bytes();
    return std::max<std::uint32_t>(1, static_cast<std::uint32_t>((drawn + mean / 2) / mean));
}

/// Hears of a message: its text and its place.
using Drawn = std::function<void(std::string_view message, const Position&)>;
/// Draws the user's next mailbox, message behind message, and returns all of it as an mbox file.
using Draw = std::function<std::string_view(const Drawn&)>;

void draw_mailbox(std::string& out, std::string_view user, const StoreOptions& options, const Pools& pools,
                  SizeDeck& deck, Random& random, const Drawn& drawn) {
    out.clear();
    const std::uint32_t count = message_count(options.mailbox_kib, random);
    std::int64_t time = kLastDelivery - kMeanGapS * (count + 1);
    for (std::uint32_t uid = 1; uid <= count; ++uid) {
        time += kMeanGapS / 2 + random.below(kMeanGapS);
        const Position position{user, std::min(time, kLastDelivery), uid, count, kLastDelivery};
        const std::size_t begin = out.size();
        append_message(out, deck.draw(), position, pools, random);
        drawn(std::string_view(out).substr(begin), position);
    }
}

void write_mboxes(const std::string& home, std::uint32_t boxes, const StoreOptions& options,
                  const Draw& draw) {
    make_folder(home, options);
    make_folder(home + "/mail", options);
    for (std::uint32_t box = 0; box < boxes; ++box) {
        const auto content = draw([](std::string_view, const Position&) {});
        write_file(home + (box == 0 ? "/inbox" : "/mail/" + folder_name(box - 1)), content, options);
    }
}

void write_maildirs(const std::string& home, std::uint32_t boxes, const StoreOptions& options,
                    const Draw& draw) {
    make_folder(home, options);
    for (std::uint32_t box = 0; box < boxes; ++box) {
        const std::string folder = home + "/Maildir" + (box == 0 ? "" : "/." + folder_name(box - 1));
        for (const auto* part : {"", "/cur", "/new", "/tmp"}) {
            make_folder(folder + part, options);
        }
        draw([&](std::string_view drawn, const Position& position) {
            const MaildirMessage message = maildir_message(drawn, position);
            const std::string path = folder + "/cur/" + message.name;
            write_file(path, message.text, options);
            // its time is the message's INTERNALDATE
            const std::array<timespec, 2> times{{{position.time, 0}, {position.time, 0}}};
            if (utimensat(AT_FDCWD, path.c_str(), times.data(), 0) != 0) {
                fail(path);
            }
        });
    }
}

void write_imap_script(const std::string& home, std::uint32_t boxes, const StoreOptions& options,
                       const Draw& draw) {
    ImapScript script(home.substr(home.rfind('/') + 1), kPassword);
    for (std::uint32_t box = 0; box < boxes; ++box) {
        script.mailbox(box == 0 ? "INBOX" : folder_name(box - 1));
        draw([&](std::string_view message, const Position& position) { script.message(message, position); });
    }
    write_file(home + ".imap", script.finish(), options);
}

void write_user(const std::string& name, std::uint32_t boxes, const StoreOptions& options, const Draw& draw) {
    const std::string home = (options.root / name).string();
    switch (options.format) {
        case Format::mbox: return write_mboxes(home, boxes, options, draw);
        case Format::maildir: return write_maildirs(home, boxes, options, draw);
        case Format::imap: return write_imap_script(home, boxes, options, draw);
    }
}

}  // namespace

std::uint32_t mailbox_count(const StoreOptions& options, std::uint32_t user) {
    const std::uint32_t spread = std::min<std::uint32_t>(2, options.mailboxes - 1);
    const auto step = static_cast<std::uint32_t>((2 * std::uint64_t{user} + options.seed) % (2 * spread + 1));
    return options.mailboxes - spread + step;
}

std::string user_name(std::uint32_t user) {
    const std::string number = std::to_string(user + 1);
    return "user" + std::string(number.size() < 3 ? 3 - number.size() : 0, '0') + number;
}

void build_store(const StoreOptions& options, const std::function<void(std::uint32_t users_done)>& progress) {
    Random pool_random(options.seed);
    const Pools pools{TextPool::prose(pool_random, kProseBytes), TextPool::base64(pool_random, kBase64Bytes)};
    const std::uint64_t user_seeds = pool_random.bits();
    std::string buffer;
    buffer.reserve(std::size_t{options.mailbox_kib} * 2048);
    for (std::uint32_t user = 0; user < options.users; ++user) {
        Random random(Random(user_seeds + user).bits());
        SizeDeck deck(random);
        const std::string name = user_name(user);
        write_user(name, mailbox_count(options, user), options, [&](const Drawn& drawn) {
            draw_mailbox(buffer, name, options, pools, deck, random, drawn);
            return std::string_view(buffer);
        });
        progress(user + 1);
    }
}

}  // namespace s80::mailstore
