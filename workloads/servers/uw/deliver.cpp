// SPDX-License-Identifier: GPL-2.0-or-later
// s80-uw-deliver: appends the message on its input to a user's INBOX, with c-client and its locks. Mail
// transfer agents call it for delivery into a program.
#include <sysexits.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include "accounts.h"
#include "mail_store.h"
#include "options.h"

namespace {

constexpr const char* kUsage =
    "usage: s80-uw-deliver --mail PATTERN USER < MESSAGE\n"
    "Appends MESSAGE to the file inbox in the user's home: PATTERN with %u for the user.\n";

std::string read_input() {
    std::string all;
    std::array<char, 64 * 1024> chunk;
    for (;;) {
        const ssize_t got = read(STDIN_FILENO, chunk.data(), chunk.size());
        if (got < 0 && errno != EINTR) {
            throw std::runtime_error(std::string("cannot read the message: ") + std::strerror(errno));
        }
        if (got == 0) {
            return all;
        }
        if (got > 0) {
            all.append(chunk.data(), static_cast<std::size_t>(got));
        }
    }
}

/// Lines end in CRLF, as c-client takes them; a "From " line of the mail transfer agent's goes.
std::string as_internet_message(std::string_view text) {
    if (text.starts_with("From ")) {
        text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
    }
    std::string message;
    message.reserve(text.size() + text.size() / 32);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) {
            message += '\r';
        }
        message += text[i];
    }
    return message;
}

int run(std::span<char* const> arguments) {
    using namespace s80::uw;
    const Options options = parse_options(arguments, {"mail"});
    if (options.words.size() != 1) {
        throw WrongUsage("exactly one USER is needed");
    }
    const std::string& user = options.words.front();
    if (!is_user_name(user)) {
        throw WrongUsage("'" + user + "' is not a valid user name");
    }
    const std::string home = home_by_pattern(options.need("mail"), user);
    if (access(home.c_str(), F_OK) != 0) {
        std::fprintf(stderr, "s80-uw-deliver: no mail folder of user %s: %s: %s\n", user.c_str(),
                     home.c_str(), std::strerror(errno));
        return EX_NOUSER;
    }
    begin_mail(user, home);
    append_message("INBOX", "", "", as_internet_message(read_input()));
    return EX_OK;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv, static_cast<std::size_t>(argc)});
    } catch (const s80::uw::WrongUsage& error) {
        std::fprintf(stderr, "s80-uw-deliver: %s\n%s", error.what(), kUsage);
        return EX_USAGE;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "s80-uw-deliver: %s\n", error.what());
        return EX_TEMPFAIL;
    }
}
