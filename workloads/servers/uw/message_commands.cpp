// SPDX-License-Identifier: GPL-2.0-or-later
// Commands on messages of the selected mailbox.
#include <algorithm>
#include <vector>

#include "callbacks.h"
#include "fetch_items.h"
#include "mail_store.h"
#include "nesting.h"
#include "replies.h"
#include "search.h"
#include "session.h"

namespace s80::uw {

namespace {

std::string_view cut(std::string_view bytes, const FetchItem& item) {
    if (!item.part) {
        return bytes;
    }
    return bytes.substr(std::min<std::size_t>(item.part->first, bytes.size()), item.part->count);
}

void write_item(ByteStream& stream, Mailbox& mailbox, unsigned long message, const FetchItem& item) {
    using What = FetchItem::What;
    stream.write(item.label + " ");
    switch (item.what) {
        case What::flags: stream.write("(" + mailbox.flags(message) + ")"); break;
        case What::uid: stream.write(std::to_string(mailbox.uid(message))); break;
        case What::internal_date: stream.write("\"" + mailbox.internal_date(message) + "\""); break;
        case What::size: stream.write(std::to_string(mailbox.size(message))); break;
        case What::whole: write_literal(stream, cut(mailbox.whole(message), item)); break;
        case What::header: write_literal(stream, cut(mailbox.header(message), item)); break;
        case What::text: write_literal(stream, cut(mailbox.text(message), item)); break;
        case What::header_fields:
            write_literal(stream, cut(mailbox.header_fields(message, item.fields, item.all_but), item));
            break;
    }
}

}  // namespace

void Session::check(Parser& parser) {
    parser.end();
    mailbox_->checkpoint();
}

void Session::close(Parser& parser) {
    parser.end();
    if (!mailbox_->read_only()) {
        mailbox_->expunge_at_close();
    }
    deselect();
}

void Session::expunge(Parser& parser) {
    parser.end();
    mailbox_->expunge();
}

void Session::fetch(Parser& parser) {
    parser.space();
    const std::string_view set = parser.sequence();
    parser.space();
    std::vector<FetchItem> items = parse_fetch_items(parser);
    parser.end();
    const auto is_uid = [](const FetchItem& item) { return item.what == FetchItem::What::uid; };
    if (by_uid_ && std::none_of(items.begin(), items.end(), is_uid)) {
        FetchItem& uid = items.emplace_back();
        uid.what = FetchItem::What::uid;
        uid.label = "UID";
    }
    const bool sees =
        std::any_of(items.begin(), items.end(), [](const FetchItem& item) { return item.sets_seen; });
    for (const unsigned long message : mailbox_->messages(set, by_uid_)) {
        if (sees) {
            mailbox_->see(message);
        }
        stream_.write("* " + std::to_string(message) + " FETCH (");
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i > 0) {
                stream_.write(" ");
            }
            write_item(stream_, *mailbox_, message, items[i]);
        }
        stream_.write(")\r\n");
    }
}

void Session::store(Parser& parser) {
    parser.space();
    const std::string_view set = parser.sequence();
    parser.space();
    FlagChange how = FlagChange::set;
    if (parser.take('+')) {
        how = FlagChange::add;
    } else if (parser.take('-')) {
        how = FlagChange::remove;
    }
    const std::string name = parser.keyword();
    if (name != "FLAGS" && name != "FLAGS.SILENT") {
        throw BadSyntax("Unknown STORE item " + name);
    }
    parser.space();
    const std::vector<std::string> flags = parser.flags();
    parser.end();
    const std::vector<unsigned long> messages = mailbox_->messages(set, by_uid_);
    mailbox_->change_flags(set, by_uid_, how, flags);
    // Told of each message here, or not at all.
    std::vector<unsigned long>& changed = events().flagged;
    std::erase_if(changed, [&](unsigned long message) {
        return std::binary_search(messages.begin(), messages.end(), message);
    });
    if (name == "FLAGS") {
        changed.insert(changed.end(), messages.begin(), messages.end());
    }
}

void Session::copy(Parser& parser) {
    parser.space();
    const std::string_view set = parser.sequence();
    parser.space();
    const std::string name = parser.astring();
    parser.end();
    mailbox_->copy(set, by_uid_, upper(name) == "INBOX" ? "INBOX" : name);
}

void Session::search(Parser& parser) {
    parser.space();
    const Found found = uw::search(*mailbox_, parser, by_uid_);
    for (const unsigned long number : found.left_out) {
        untagged("NO Message " + std::to_string(number) +
                 " is not searched: comments in its header are nested " + "more than " +
                 std::to_string(kDeepestComment) + " levels deep");
    }
    std::string text = "SEARCH";
    for (const unsigned long number : found.messages) {
        text += " " + std::to_string(number);
    }
    untagged(text);
}

void Session::uid(Parser& parser) {
    parser.space();
    const std::string name = parser.keyword();
    by_uid_ = true;
    if (name == "FETCH") {
        fetch(parser);
    } else if (name == "STORE") {
        store(parser);
    } else if (name == "COPY") {
        copy(parser);
    } else if (name == "SEARCH") {
        search(parser);
    } else {
        throw BadSyntax("Unknown command UID " + name);
    }
}

}  // namespace s80::uw
