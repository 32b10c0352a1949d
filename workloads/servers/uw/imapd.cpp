// SPDX-License-Identifier: GPL-2.0-or-later
// s80-uw-imapd: an IMAP server with c-client and one process per session.
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <span>

#include "accounts.h"
#include "listener.h"
#include "options.h"
#include "session.h"
#include "signals.h"
#include "tls_stream.h"

namespace {

constexpr const char* kUsage =
    "usage: s80-uw-imapd --listen IPV4:PORT --cert FILE --key FILE --passwd FILE [--mail PATTERN] [--uid N]\n"
    "Serves IMAP over TLS 1.3. FILE of --passwd has lines user:password[:home]; PATTERN is the home of those "
    "that\n"
    "have none there, with %u for the user: INBOX is HOME/inbox, other mailboxes are in HOME/mail. With "
    "--uid, as\n"
    "root, sessions run as that user. Port 0 is any free one; the first line printed says which.\n";

int run(std::span<char* const> arguments) {
    using namespace s80::uw;
    const Options options = parse_options(arguments, {"listen", "cert", "key", "passwd", "mail", "uid"});
    if (!options.words.empty()) {
        throw WrongUsage("unknown argument '" + options.words.front() + "'");
    }
    const auto user = options.user_id("uid");
    const Accounts accounts(options.need("passwd"), options.get("mail"));
    const TlsContext tls(options.need("cert"), options.need("key"));
    Listener listener(options.need("listen"));
    hold_signals();
    std::printf("s80-uw-imapd: listening on %s\n", listener.address().c_str());
    std::fflush(stdout);
    listener.serve([&, parent = getpid()](int socket, std::span<char> note) {
        try {
            become(user);
            end_with_parent(parent);
            TlsStream stream(tls, socket);
            Session(stream, accounts, note).run();
        } catch (const Gone&) {      // a client may leave as it likes; its mailbox has been closed
        } catch (const Farewell&) {  // before the greeting
        } catch (const std::exception& error) {
            std::fprintf(stderr, "s80-uw-imapd: a session failed: %s\n", error.what());
        }
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv, static_cast<std::size_t>(argc)});
    } catch (const s80::uw::WrongUsage& error) {
        std::fprintf(stderr, "s80-uw-imapd: %s\n%s", error.what(), kUsage);
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "s80-uw-imapd: %s\n", error.what());
        return 1;
    }
}
