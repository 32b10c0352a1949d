// SPDX-License-Identifier: GPL-2.0-or-later
#include "mailbox.h"

#include "byte_stream.h"
#include "c_client.h"
#include "callbacks.h"
#include "mail_store.h"
#include "nesting.h"

namespace s80::uw {

namespace {

char* text_of(const std::string& value) {
    return const_cast<char*>(value.c_str());
}

/// c-client's own texts, as a list of header fields wants them.
class StringList {
public:
    explicit StringList(const std::vector<std::string>& texts) {
        for (auto text = texts.rbegin(); text != texts.rend(); ++text) {
            STRINGLIST* one = mail_newstringlist();
            one->text.data = reinterpret_cast<unsigned char*>(cpystr(text_of(*text)));
            one->text.size = text->size();
            one->next = first_;
            first_ = one;
        }
    }
    ~StringList() { mail_free_stringlist(&first_); }
    StringList(const StringList&) = delete;
    StringList& operator=(const StringList&) = delete;

    STRINGLIST* get() const { return first_; }

private:
    STRINGLIST* first_ = nullptr;
};

}  // namespace

Mailbox::Mailbox(const std::string& name, bool read_only) {
    check_mailbox_name(name);
    constexpr int kAttempts = 3;  // a writer may come between the look and the open
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        if (!read_only) {
            await_writers(name);
        }
        events().error.clear();
        stream_ = mail_open(nullptr, text_of(name), read_only ? OP_READONLY : 0);
        if (stream_ == nullptr) {
            throw Refused(events().take_error("SELECT failed"));
        }
        // An empty file is c-client's dummy driver's, which never finds new mail in it.
        if (read_only || !stream_->rdonly || attempt + 1 == kAttempts) {
            break;
        }
        stream_ = mail_close_full(stream_, 0);
    }
    events().selected = stream_;
    events().expunged.clear();
    events().flagged.clear();
}

Mailbox::~Mailbox() {
    events().selected = nullptr;
    mail_close_full(stream_, expunge_at_close_ ? CL_EXPUNGE : 0);
}

unsigned long Mailbox::count() const {
    return stream_->nmsgs;
}

unsigned long Mailbox::recent() const {
    return stream_->recent;
}

unsigned long Mailbox::uid_validity() const {
    return stream_->uid_validity;
}

unsigned long Mailbox::uid_next() const {
    return stream_->uid_last + 1;
}

bool Mailbox::read_only() const {
    return stream_->rdonly;
}

bool Mailbox::keeps_keywords() const {
    return stream_->kwd_create;
}

unsigned long Mailbox::first_unseen() const {
    for (unsigned long message = 1; message <= stream_->nmsgs; ++message) {
        if (!mail_elt(stream_, message)->seen) {
            return message;
        }
    }
    return 0;
}

std::vector<std::string> Mailbox::keywords() const {
    std::vector<std::string> names;
    for (const char* name : stream_->user_flags) {
        if (name != nullptr) {
            names.emplace_back(name);
        }
    }
    return names;
}

std::vector<unsigned long> Mailbox::messages(std::string_view set, bool by_uid) {
    std::string copy(set);
    auto* bytes = reinterpret_cast<unsigned char*>(copy.data());
    events().error.clear();
    if (!(by_uid ? mail_uid_sequence(stream_, bytes) : mail_sequence(stream_, bytes))) {
        throw Refused(events().take_error("No such message"));
    }
    std::vector<unsigned long> numbers;
    for (unsigned long message = 1; message <= stream_->nmsgs; ++message) {
        if (mail_elt(stream_, message)->sequence) {
            numbers.push_back(message);
        }
    }
    return numbers;
}

unsigned long Mailbox::uid(unsigned long message) const {
    return mail_uid(stream_, message);
}

unsigned long Mailbox::size(unsigned long message) const {
    return mail_elt(stream_, message)->rfc822_size;
}

std::string Mailbox::internal_date(unsigned long message) const {
    char date[MAILTMPLEN];
    return mail_date(date, mail_elt(stream_, message));
}

std::string Mailbox::flags(unsigned long message) const {
    const MESSAGECACHE& state = *mail_elt(stream_, message);
    std::string names;
    const auto add = [&](bool there, const char* name) {
        if (there) {
            names.append(names.empty() ? "" : " ").append(name);
        }
    };
    add(state.recent, "\\Recent");
    add(state.seen, "\\Seen");
    add(state.deleted, "\\Deleted");
    add(state.flagged, "\\Flagged");
    add(state.answered, "\\Answered");
    add(state.draft, "\\Draft");
    for (unsigned bit = 0; bit < NUSERFLAGS; ++bit) {
        const char* keyword = stream_->user_flags[bit];
        add(keyword != nullptr && (state.user_flags >> bit & 1) != 0, keyword);
    }
    return names;
}

std::string_view Mailbox::header(unsigned long message) {
    unsigned long size = 0;
    const char* bytes = mail_fetch_header(stream_, message, nullptr, nullptr, &size, FT_PEEK);
    return {bytes, size};
}

std::string_view Mailbox::header_fields(unsigned long message, const std::vector<std::string>& fields,
                                        bool all_but) {
    const StringList names(fields);
    unsigned long size = 0;
    const char* bytes = mail_fetch_header(stream_, message, nullptr, names.get(), &size,
                                          all_but ? FT_PEEK | FT_NOT : FT_PEEK);
    return {bytes, size};
}

std::string_view Mailbox::text(unsigned long message) {
    unsigned long size = 0;
    const char* bytes = mail_fetch_text(stream_, message, nullptr, &size, FT_PEEK);
    return {bytes, size};
}

std::string_view Mailbox::whole(unsigned long message) {
    unsigned long size = 0;
    const char* bytes = mail_fetch_message(stream_, message, &size, FT_PEEK);
    return {bytes, size};
}

void Mailbox::see(unsigned long message) {
    if (stream_->rdonly || mail_elt(stream_, message)->seen) {
        return;
    }
    const std::string number = std::to_string(message), seen = "\\Seen";
    mail_flag(stream_, text_of(number), text_of(seen), ST_SET);
}

std::vector<unsigned long> Mailbox::nested_too_deeply(bool bodies) {
    std::vector<unsigned long> found;
    for (unsigned long message = 1; message <= stream_->nmsgs; ++message) {
        const MESSAGECACHE& state = *mail_elt(stream_, message);
        // Most headers are too short for so many levels, so they are not read.
        if ((state.cclientPrivate.msg.header.text.size > kDeepestComment &&
             nests_too_deeply(header(message))) ||
            (bodies && size(message) > kDeepestComment && nests_too_deeply(text(message)))) {
            found.push_back(message);
        }
    }
    return found;
}

void Mailbox::change_flags(std::string_view set, bool by_uid, FlagChange how,
                           const std::vector<std::string>& flags) {
    if (stream_->rdonly) {
        throw Refused("The mailbox is read-only");
    }
    const std::string messages(set);
    std::string list;
    for (const std::string& flag : flags) {
        list.append(list.empty() ? "(" : " ").append(flag);
    }
    list += list.empty() ? "()" : ")";
    const long uid = by_uid ? ST_UID : 0;
    events().error.clear();
    if (how == FlagChange::set) {
        std::string all = "(\\Answered \\Flagged \\Deleted \\Draft \\Seen";
        for (const std::string& keyword : keywords()) {
            all.append(" ").append(keyword);
        }
        all += ")";
        mail_flag(stream_, text_of(messages), text_of(all), uid);
    }
    if (!flags.empty()) {
        mail_flag(stream_, text_of(messages), text_of(list), how == FlagChange::remove ? uid : uid | ST_SET);
    }
    if (!events().error.empty()) {
        throw Refused(events().take_error(""));
    }
}

void Mailbox::copy(std::string_view set, bool by_uid, const std::string& to) {
    check_mailbox_name(to);
    const std::string messages(set);
    events().error.clear();
    if (!mail_copy_full(stream_, text_of(messages), text_of(to), by_uid ? CP_UID : 0)) {
        throw Refused(events().take_error("COPY failed"));
    }
}

void Mailbox::expunge() {
    if (stream_->rdonly) {
        throw Refused("The mailbox is read-only");
    }
    mail_expunge_full(stream_, nullptr, 0);
}

void Mailbox::ping() {
    if (mail_ping(stream_)) {
        return;
    }
    throw Farewell("The mailbox is lost: " + events().take_error("no reason known"));
}

void Mailbox::checkpoint() {
    mail_check(stream_);
}

}  // namespace s80::uw
