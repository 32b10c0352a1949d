// SPDX-License-Identifier: GPL-2.0-or-later
#include "search.h"

#include <charconv>
#include <iterator>
#include <map>
#include <utility>

#include "c_client.h"
#include "callbacks.h"
#include "mail_store.h"

namespace s80::uw {

namespace {

constexpr int kDeepest = 50;  // brackets, NOTs and ORs in each other

using Keys = search_program;  // c-client's own name for it is a macro

struct Program {
    Program() : keys(mail_newsearchpgm()) {}
    ~Program() { mail_free_searchpgm(&keys); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    Keys* keys;
};

using Flag = void (*)(Keys&);

const std::map<std::string_view, Flag>& flag_keys() {
    static const std::map<std::string_view, Flag> keys = {
        {"ALL", [](Keys&) {}},
        {"ANSWERED", [](Keys& p) { p.answered = 1; }},
        {"DELETED", [](Keys& p) { p.deleted = 1; }},
        {"DRAFT", [](Keys& p) { p.draft = 1; }},
        {"FLAGGED", [](Keys& p) { p.flagged = 1; }},
        {"NEW", [](Keys& p) { p.recent = p.unseen = 1; }},
        {"OLD", [](Keys& p) { p.old = 1; }},
        {"RECENT", [](Keys& p) { p.recent = 1; }},
        {"SEEN", [](Keys& p) { p.seen = 1; }},
        {"UNANSWERED", [](Keys& p) { p.unanswered = 1; }},
        {"UNDELETED", [](Keys& p) { p.undeleted = 1; }},
        {"UNDRAFT", [](Keys& p) { p.undraft = 1; }},
        {"UNFLAGGED", [](Keys& p) { p.unflagged = 1; }},
        {"UNSEEN", [](Keys& p) { p.unseen = 1; }},
    };
    return keys;
}

const std::map<std::string_view, STRINGLIST * Keys::*>& text_keys() {
    static const std::map<std::string_view, STRINGLIST* Keys::*> keys = {
        {"BCC", &Keys::bcc},   {"BODY", &Keys::body},       {"CC", &Keys::cc},
        {"FROM", &Keys::from}, {"KEYWORD", &Keys::keyword}, {"SUBJECT", &Keys::subject},
        {"TEXT", &Keys::text}, {"TO", &Keys::to},           {"UNKEYWORD", &Keys::unkeyword}};
    return keys;
}

const std::map<std::string_view, unsigned short Keys::*>& date_keys() {
    static const std::map<std::string_view, unsigned short Keys::*> keys = {
        {"BEFORE", &Keys::before},         {"ON", &Keys::on},
        {"SENTBEFORE", &Keys::sentbefore}, {"SENTON", &Keys::senton},
        {"SENTSINCE", &Keys::sentsince},   {"SINCE", &Keys::since}};
    return keys;
}

/// "1-Feb-1994"
unsigned short parse_date(const std::string& text) {
    MESSAGECACHE moment = {};
    std::string copy = text;
    if (!mail_parse_date(&moment, reinterpret_cast<unsigned char*>(copy.data()))) {
        throw BadSyntax("Bad date");
    }
    return mail_shortdate(moment.year, moment.month, moment.day);
}

SEARCHSET* parse_set(std::string_view text, unsigned long last) {
    SEARCHSET* set = nullptr;
    SEARCHSET** end = &set;
    while (!text.empty()) {
        const std::string_view range = text.substr(0, text.find(','));
        text.remove_prefix(std::min(range.size() + 1, text.size()));
        const auto value = [&](std::string_view number) {
            unsigned long parsed = last;
            if (number != "*") {
                std::from_chars(number.data(), number.data() + number.size(), parsed);
            }
            return parsed;
        };
        *end = mail_newsearchset();
        const std::size_t colon = range.find(':');
        (*end)->first = value(range.substr(0, colon));
        if (colon != std::string_view::npos) {
            (*end)->last = value(range.substr(colon + 1));
        }
        end = &(*end)->next;
    }
    return set;
}

Keys& negated(Keys& program) {
    SEARCHPGMLIST* one = mail_newsearchpgmlist();  // with an empty program in it
    one->next = program.cclientNot;
    program.cclientNot = one;
    return *one->pgm;
}

/// The set of all messages but those left out; empty if none remains.
std::string all_but(const std::vector<unsigned long>& left_out, unsigned long count) {
    std::string set;
    unsigned long first = 1;
    const auto add = [&](unsigned long end) {
        if (first < end) {
            set += (set.empty() ? "" : ",") + std::to_string(first) + ":" + std::to_string(end - 1);
        }
        first = end + 1;
    };
    for (const unsigned long message : left_out) {
        add(message);
    }
    add(count + 1);
    return set;
}

/// Restricts the program to a set. c-client looks at the set first, and parses no other message.
void restrict(Program& program, const std::string& set, unsigned long last) {
    Program outer;
    outer.keys->msgno = parse_set(set, last);
    Keys& not_these = negated(*outer.keys);
    not_these.cclientNot = mail_newsearchpgmlist();
    std::swap(not_these.cclientNot->pgm, program.keys);
    std::swap(program.keys, outer.keys);
}

class Reader {
public:
    Reader(Parser& parser, const Mailbox& mailbox) : parser_(parser), mailbox_(mailbox) {}

    void key(Keys& program, int depth = 0) {
        if (depth > kDeepest) {
            throw BadSyntax("Too many search keys in each other");
        }
        const char next = parser_.peek();
        if (parser_.take('(')) {
            group(program, depth);
        } else if ((next >= '0' && next <= '9') || next == '*') {
            set(program, parser_.sequence(), false);
        } else {
            named(program, parser_.keyword(), depth);
        }
    }

    /// Whether a key makes c-client parse headers, and the headers of parts.
    bool parses_headers() const { return parses_headers_; }
    bool parses_bodies() const { return parses_bodies_; }

private:
    void named(Keys& program, const std::string& name, int depth) {
        if (const auto flag = flag_keys().find(name); flag != flag_keys().end()) {
            flag->second(program);
            return;
        }
        parser_.space();
        if (const auto text = text_keys().find(name); text != text_keys().end()) {
            add_text(program.*text->second, parser_.astring());
            parses_headers_ |= !name.ends_with("KEYWORD");
            parses_bodies_ |= name == "BODY" || name == "TEXT";
        } else if (const auto date = date_keys().find(name); date != date_keys().end()) {
            parses_headers_ |= name.starts_with("SENT");
            program.*date->second = parse_date(parser_.astring());
        } else if (name == "HEADER") {
            std::string field = parser_.astring();
            parser_.space();
            std::string wanted = parser_.astring();
            SEARCHHEADER* header = mail_newsearchheader(field.data(), wanted.data());
            header->next = program.header;
            program.header = header;
        } else if (name == "LARGER") {
            program.larger = parser_.number();
        } else if (name == "SMALLER") {
            program.smaller = parser_.number();
        } else if (name == "UID") {
            set(program, parser_.sequence(), true);
        } else if (name == "NOT") {
            key(negated(program), depth + 1);
        } else if (name == "OR") {
            either(program, depth);
        } else {
            throw BadSyntax("Unknown search key " + name);
        }
    }

    static void add_text(STRINGLIST*& list, const std::string& text) {
        STRINGLIST* one = mail_newstringlist();
        one->text.data = reinterpret_cast<unsigned char*>(cpystr(const_cast<char*>(text.c_str())));
        one->text.size = text.size();
        one->next = list;
        list = one;
    }

    /// c-client has no brackets; what is in them is negated twice.
    void group(Keys& program, int depth) {
        Keys& inner = negated(negated(program));
        do {
            key(inner, depth + 1);
        } while (parser_.take(' '));
        parser_.expect(')');
    }

    void either(Keys& program, int depth) {
        SEARCHOR* one = mail_newsearchor();  // with two empty programs in it
        one->next = program.cclientOr;
        program.cclientOr = one;
        key(*one->first, depth + 1);
        parser_.space();
        key(*one->second, depth + 1);
    }

    void set(Keys& program, std::string_view text, bool by_uid) {
        Keys* into = &program;
        // A second set restricts the first.
        if (into->msgno != nullptr || into->uid != nullptr) {
            into = &negated(negated(program));
        }
        if (by_uid) {
            into->uid = parse_set(text, mailbox_.uid_next() - 1);
        } else {
            into->msgno = parse_set(text, mailbox_.count());
        }
    }

    Parser& parser_;
    const Mailbox& mailbox_;
    bool parses_headers_ = false;
    bool parses_bodies_ = false;
};

}  // namespace

Found search(Mailbox& mailbox, Parser& parser, bool by_uid) {
    std::string charset;
    Program program;
    Reader reader(parser, mailbox);
    {
        Parser ahead = parser;
        if (ahead.peek() != '(' && ahead.peek() != '*' && (ahead.peek() < '0' || ahead.peek() > '9') &&
            ahead.keyword() == "CHARSET") {
            ahead.space();
            charset = ahead.astring();
            ahead.space();
            parser = ahead;
        }
    }
    do {
        reader.key(*program.keys);
    } while (parser.take(' '));
    parser.end();
    Found found;
    if (reader.parses_headers()) {
        found.left_out = mailbox.nested_too_deeply(reader.parses_bodies());
    }
    if (!found.left_out.empty()) {
        const std::string rest = all_but(found.left_out, mailbox.count());
        if (rest.empty()) {
            return found;
        }
        restrict(program, rest, mailbox.count());
    }
    events().searched.clear();
    events().error.clear();
    if (!mail_search_full(mailbox.stream(), charset.empty() ? nullptr : charset.data(), program.keys,
                          by_uid ? SE_UID : 0)) {
        throw Refused(events().take_error("SEARCH failed"));
    }
    found.messages = std::move(events().searched);
    return found;
}

}  // namespace s80::uw
