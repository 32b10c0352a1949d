// SPDX-License-Identifier: GPL-2.0-or-later
// Errors in the communication with a server. No request is repeated; every failure is counted by its kind.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace s80::loadgen {

enum class ErrorKind : unsigned char {
    protocol,    // NO or BAD, tagged or not, or a reply that does not parse
    connection,  // refused, lost or silent for longer than the reply timeout
    missing,     // the server did not deliver a message that must be there
    smtp,        // a reply of the mail transfer agent other than 2xx or 3xx
};

inline constexpr std::size_t kErrorKinds = 4;
inline constexpr std::array<std::string_view, kErrorKinds> kErrors = {"protocol", "connection", "missing",
                                                                      "smtp"};

/// Text of a server as a message shows it: one line of printable ASCII, cut after 1000 characters.
inline std::string printable(std::string text) {
    constexpr std::size_t kLimit = 1000;
    if (text.size() > kLimit) {
        text.replace(kLimit, std::string::npos, "...");
    }
    for (char& c : text) {
        if (c < 0x20 || c > 0x7e) {
            c = '?';
        }
    }
    return text;
}

/// A failed transaction. After a fatal one its session is unusable, so the run cannot continue.
class Failure : public std::runtime_error {
public:
    Failure(ErrorKind kind, const std::string& message, bool fatal = false)
        : std::runtime_error(printable(message)),
          kind_(kind),
          fatal_(fatal || kind == ErrorKind::connection) {}

    ErrorKind kind() const { return kind_; }
    bool fatal() const { return fatal_; }

private:
    ErrorKind kind_;
    bool fatal_;
};

/// The load generator cannot start or continue. The message is one sentence for the user.
class Fatal : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace s80::loadgen
