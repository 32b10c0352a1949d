// SPDX-License-Identifier: GPL-2.0-or-later
// One IMAP connection that stays logged in. It sends a command and waits for its tagged reply. It also keeps
// the number of messages in the selected mailbox up to date with the server's untagged responses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "connection.h"
#include "imap/fetch_response.h"
#include "imap/response_parser.h"
#include "task.h"

namespace s80::loadgen {

/// Numbers of an ImapReply.
struct ImapCounts {
    unsigned answers = 0;      // FETCH responses
    unsigned fetched = 0;      // texts in them
    unsigned highest_uid = 0;  // of the UIDs in FETCH responses
    FetchedMessage wanted;     // what the FETCH responses say of the wanted message
    unsigned expunged = 0;
    unsigned searches = 0;         // SEARCH and ESEARCH responses
    bool found = false;            // one of them contains the wanted message
    unsigned statuses = 0;         // STATUS responses that state the number of messages
    std::size_t listed_bytes = 0;  // of all names
};

/// The responses of the server between a command and its tagged reply.
struct ImapReply : ImapCounts {
    std::string captured;             // first bytes of the wanted message's text
    std::vector<std::string> listed;  // LIST: names, as the server writes them, unquoted

    /// Keeps the memory of the text, which the next command often needs.
    void clear() {
        *static_cast<ImapCounts*>(this) = {};
        captured.clear();
        listed.clear();
    }
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
    /// Failure for a tagged NO or BAD, and for BYE. A NO or BAD without a tag is a warning.
    Task command(std::string text);
    /// Puts a message into a mailbox. The literal is non-synchronising (RFC 7888) if the server has announced
    /// that it takes such literals.
    Task append(const std::string& mailbox, const std::string& message);
    /// Sends IDLE and waits until the server accepts it (RFC 2177). The next call must be done().
    Task idle();
    /// Ends IDLE.
    Task done();
    /// Sends LOGOUT and closes the connection.
    Task log_out();

    const ImapReply& reply() const { return reply_; }
    unsigned messages() const { return messages_; }
    bool has_move() const { return has_move_; }
    /// Whether the server has greeted with PREAUTH, so that no LOGIN is possible.
    bool authenticated() const { return authenticated_; }

    /// Selects the message of the next command, to which reply().wanted, captured and found refer.
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
    void on_continuation(std::string_view text);
    void on_untagged(std::string_view text, bool has_literal, std::uint64_t literal);
    void on_numbered(unsigned number, std::string_view text, bool has_literal, std::uint64_t literal);
    /// What follows a literal.
    void on_piece(std::string_view text);
    /// What follows the word FETCH, or a literal in a FETCH response.
    void on_fetch_piece(std::string_view text, bool has_literal, std::uint64_t literal);
    void on_list(std::string_view text, bool has_literal);
    void on_search(std::string_view numbers);
    void on_extended_search(std::string_view text);
    void on_status(std::string_view text);
    void on_expunge(unsigned number);
    void on_code(std::string_view text);
    void on_capability(std::string_view names);
    void add_to_name(std::string_view part);

    /// Messages name the command by the first `name` characters of the text.
    Task exchange(std::string text, std::size_t name);
    void begin(std::string_view text, std::size_t name, bool continues);
    void check() const;

    ResponseParser parser_;
    std::string line_;  // the command in flight
    struct {
        std::size_t begin, size;
    } name_{};          // of the command, in line_
    std::string rest_;  // of the command, behind a continuation
    std::string tag_;
    unsigned last_tag_ = 0;
    bool in_flight_ = false;  // no tagged reply yet
    bool continues_ = false;  // the server is to ask for the rest of the command
    bool idling_ = false;
    bool greeted_ = false;
    bool authenticated_ = false;
    bool leaving_ = false;
    bool has_move_ = false;
    std::size_t longest_at_once_ = 0;  // of a non-synchronising literal
    unsigned messages_ = 0;
    unsigned wanted_ = 0;
    enum class Response { other, fetch, list, esearch, status } response_ = Response::other;
    FetchResponse fetch_;
    unsigned fetch_number_ = 0;
    bool name_follows_ = false;  // as a literal
    unsigned search_depth_ = 0;  // ESEARCH: of brackets
    bool of_other_search_ = false;
    ImapReply reply_;
    std::string refusal_;  // tagged NO or BAD
};

}  // namespace s80::loadgen
