// SPDX-License-Identifier: GPL-2.0-or-later
// The selected mailbox: an open c-client stream.
#pragma once

#include <string>
#include <string_view>
#include <vector>

struct mail_stream;

namespace s80::uw {

enum class FlagChange { set, add, remove };

class Mailbox {
public:
    /// Opens and parses the mailbox. Throws Refused.
    Mailbox(const std::string& name, bool read_only);
    /// Closes the mailbox and writes changes.
    ~Mailbox();
    Mailbox(const Mailbox&) = delete;
    Mailbox& operator=(const Mailbox&) = delete;

    unsigned long count() const;
    unsigned long recent() const;
    unsigned long uid_validity() const;
    unsigned long uid_next() const;
    bool read_only() const;
    bool keeps_keywords() const;
    /// The first message without \Seen; 0 if there is none.
    unsigned long first_unseen() const;
    std::vector<std::string> keywords() const;

    /// The numbers of the messages in an IMAP set. Throws Refused if the set names a message that does not
    /// exist (UIDs of expunged messages are ignored).
    std::vector<unsigned long> messages(std::string_view set, bool by_uid);

    unsigned long uid(unsigned long message) const;
    unsigned long size(unsigned long message) const;
    std::string internal_date(unsigned long message) const;
    /// "\Seen \Deleted"
    std::string flags(unsigned long message) const;

    // Views into c-client's buffers, until the next call. Lines end in CRLF.
    std::string_view header(unsigned long message);
    std::string_view header_fields(unsigned long message, const std::vector<std::string>& fields,
                                   bool all_but);
    std::string_view text(unsigned long message);
    std::string_view whole(unsigned long message);
    /// Sets \Seen, as fetching a body does.
    void see(unsigned long message);

    /// The messages that c-client must not parse, because comments in their header are nested too deeply
    /// (nesting.h). With `bodies`, the headers of their parts count, too.
    std::vector<unsigned long> nested_too_deeply(bool bodies);

    void change_flags(std::string_view set, bool by_uid, FlagChange how,
                      const std::vector<std::string>& flags);
    void copy(std::string_view set, bool by_uid, const std::string& to);
    /// Removes the messages with \Deleted; events() has their numbers.
    void expunge();
    /// CLOSE: removes them when the mailbox is closed.
    void expunge_at_close() { expunge_at_close_ = true; }

    /// Checks for new mail. Throws Farewell if the mailbox is lost.
    void ping();
    /// Writes changes.
    void checkpoint();

    mail_stream* stream() const { return stream_; }

private:
    mail_stream* stream_ = nullptr;
    bool expunge_at_close_ = false;
};

}  // namespace s80::uw
