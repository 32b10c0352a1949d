// SPDX-License-Identifier: GPL-2.0-or-later
// s80-mailstore: builds a seeded mail store; runs in the guest at boot and on any host.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "store.h"

namespace {

constexpr std::string_view kUsage =
    "usage: s80-mailstore --root DIR --users N --mailboxes M --mailbox-kib K --seed S [--uid U]\n"
    "                     [--format mbox|maildir|imap]\n"
    "Builds DIR/user001 ... with M mailboxes a user on average (M-2 .. M+2), each of about K KiB.\n";

std::uint64_t number(std::string_view option, std::string_view text, std::uint64_t least,
                     std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
        throw std::invalid_argument(std::string(option) + " must be a number from " + std::to_string(least) +
                                    " to " + std::to_string(most) + ", not '" + std::string(text) + "'");
    }
    return value;
}

s80::mailstore::Format format(std::string_view name) {
    using s80::mailstore::Format;
    if (name == "mbox") {
        return Format::mbox;
    }
    if (name == "maildir") {
        return Format::maildir;
    }
    if (name == "imap") {
        return Format::imap;
    }
    throw std::invalid_argument("--format must be mbox, maildir or imap, not '" + std::string(name) + "'");
}

s80::mailstore::StoreOptions parse(int count, char** words) {
    s80::mailstore::StoreOptions options;
    for (int i = 1; i < count; i += 2) {
        const std::string_view option = words[i];
        if (i + 1 == count) {
            throw std::invalid_argument(std::string(option) + " needs a value");
        }
        const std::string_view value = words[i + 1];
        const auto count_of = [&](std::uint64_t most) {
            return static_cast<std::uint32_t>(number(option, value, 1, most));
        };
        if (option == "--root") {
            options.root = value;
        } else if (option == "--users") {
            options.users = count_of(9999);
        } else if (option == "--mailboxes") {
            options.mailboxes = count_of(1000);
        } else if (option == "--mailbox-kib") {
            options.mailbox_kib = count_of(1 << 20);
        } else if (option == "--seed") {
            options.seed = number(option, value, 0, std::numeric_limits<std::uint64_t>::max());
        } else if (option == "--format") {
            options.format = format(value);
        } else if (option == "--uid") {
            options.uid = static_cast<uid_t>(number(option, value, 0, 0xFFFFFFFE));
        } else {
            throw std::invalid_argument("unknown option " + std::string(option));
        }
    }
    if (options.root.empty() || !options.users || !options.mailboxes || !options.mailbox_kib) {
        throw std::invalid_argument("--root, --users, --mailboxes and --mailbox-kib are needed");
    }
    return options;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const auto options = parse(argc, argv);
        std::uint64_t told = 0;
        s80::mailstore::build_store(options, [&](std::uint32_t done) {
            const std::uint64_t percent = std::uint64_t{done} * 100 / options.users;
            if (percent < told + 10 && percent < 100) {
                return;
            }
            told = percent;
            std::printf("s80lab: store %llu%%\n", static_cast<unsigned long long>(percent));
            std::fflush(stdout);
        });
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "s80-mailstore: %s\n%s", error.what(), kUsage.data());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "s80-mailstore: %s\n", error.what());
        return 1;
    }
}
