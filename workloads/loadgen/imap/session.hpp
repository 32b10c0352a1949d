// SPDX-License-Identifier: GPL-2.0-or-later
// One IMAP connection that stays logged in. It sends a command and waits for its tagged reply. It also keeps
// the number of messages in the selected mailbox up to date with the server's untagged responses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "connection.hpp"
#include "imap/response_parser.hpp"
#include "task.hpp"

namespace s80::loadgen {

/// The responses of the server between a command and its tagged reply.
struct ImapReply {
    unsigned answers = 0;        // FETCH responses
    unsigned fetched = 0;        // those with a literal
    std::uint64_t literal = 0;   // bytes of these literals
    std::uint64_t sizes = 0;     // sum of the RFC822.SIZEs
    unsigned highest_uid = 0;    // of the UIDs in FETCH responses
    unsigned deleted_flags = 0;  // FETCH responses that show \Deleted
    unsigned expunged = 0;
    bool found = false;               // SEARCH: the wanted message is in the result
    std::string captured;             // first bytes of the wanted message's literal
    std::vector<std::string> listed;  // LIST: names, as the server writes them, unquoted
    std::size_t listed_bytes = 0;     // of all names
};

class ImapSession final : public Connection, private ResponseHandler {
public:
    explicit ImapSession(Network& network) : Connection(network) {}

    /// Connects, without TLS if `tls` is null, and waits for the greeting.
    Task connect(const Endpoint& server, const TlsContext* tls);
    /// Connects, logs in and requests the capabilities.
    Task log_in(const Endpoint& server, const TlsContext& tls, std::string_view user,
                std::string_view password);

    /// Sends one command and waits for its tagged OK. The reply is in reply() until the next command. Throws
    /// Failure for anything else: NO, BAD, a NO or BAD without a tag, BYE.
    Task command(std::string text);
    /// Puts a message into a mailbox, with a non-synchronising literal (RFC 7888).
    Task append(const std::string& mailbox, const std::string& message);
    /// Sends LOGOUT and closes the connection.
    Task log_out();

    const ImapReply& reply() const { return reply_; }
    unsigned messages() const { return messages_; }
    bool has_move() const { return has_move_; }

    /// Selects the message of the next command, to which reply().captured and reply().found refer.
    void want(unsigned message) { wanted_ = message; }
    unsigned wanted() const { return wanted_; }

    /// The number of this message is adjusted when others before it are expunged; 0 if it was expunged
    /// itself.
    unsigned remembered = 0;

private:
    std::size_t consume(std::string_view bytes) override { return parser_.feed(bytes, *this); }
    void on_text(std::string_view text, bool begins, bool has_literal, std::uint64_t literal) override;
    void on_literal(std::string_view part) override;

    void on_tagged(std::string_view text);
    void on_untagged(std::string_view text, bool has_literal, std::uint64_t literal);
    void on_numbered(unsigned number, std::string_view kind, bool has_literal, std::uint64_t literal);
    void on_fetch(std::string_view items);
    void on_list(std::string_view text, bool has_literal);
    /// `what` names the command in messages.
    Task exchange(std::string text, std::string what);
    void add_to_name(std::string_view part);
    void on_search(std::string_view numbers);
    void on_expunge(unsigned number);

    ResponseParser parser_;
    std::string line_;  // the command in flight
    std::string tag_;
    unsigned last_tag_ = 0;
    bool greeted_ = false;
    bool leaving_ = false;
    bool has_move_ = false;
    unsigned messages_ = 0;
    unsigned wanted_ = 0;
    enum class Literal { skip, capture, mailbox } literal_ = Literal::skip;
    bool in_fetch_ = false;
    ImapReply reply_;
    std::string refusal_;  // NO or BAD, tagged or not
};

}  // namespace s80::loadgen
