// SPDX-License-Identifier: GPL-2.0-or-later
#include "fetch_items.h"

#include <array>
#include <utility>

#include "replies.h"

namespace s80::uw {

namespace {

using What = FetchItem::What;

struct Named {
    std::string_view name;
    What what;
    bool sets_seen;
};

constexpr std::array<Named, 7> kPlain = {{{"FLAGS", What::flags, false},
                                          {"UID", What::uid, false},
                                          {"INTERNALDATE", What::internal_date, false},
                                          {"RFC822.SIZE", What::size, false},
                                          {"RFC822", What::whole, true},
                                          {"RFC822.HEADER", What::header, false},
                                          {"RFC822.TEXT", What::text, true}}};

void parse_fields(Parser& parser, FetchItem& item) {
    parser.space();
    parser.expect('(');
    item.label += " (";
    do {
        if (!item.fields.empty()) {
            item.label += ' ';
        }
        item.fields.push_back(parser.astring());
        item.label += as_string(item.fields.back());
    } while (parser.take(' '));
    parser.expect(')');
    item.label += ')';
}

/// BODY or BODY.PEEK, from the "[" on.
void parse_section(Parser& parser, FetchItem& item) {
    parser.expect('[');
    const std::string section = parser.peek() == ']' ? std::string() : parser.keyword();
    item.label = "BODY[" + section;
    if (section.empty()) {
        item.what = What::whole;
    } else if (section == "HEADER") {
        item.what = What::header;
    } else if (section == "TEXT") {
        item.what = What::text;
    } else if (section == "HEADER.FIELDS" || section == "HEADER.FIELDS.NOT") {
        item.what = What::header_fields;
        item.all_but = section.ends_with(".NOT");
        parse_fields(parser, item);
    } else {
        throw BadSyntax("This server knows no section " + section);
    }
    parser.expect(']');
    item.label += ']';
    if (parser.take('<')) {
        const unsigned long first = parser.number();
        parser.expect('.');
        item.part = FetchItem::Part{first, parser.number()};
        parser.expect('>');
        item.label += "<" + std::to_string(first) + ">";
    }
}

FetchItem parse_item(Parser& parser, std::string name) {
    FetchItem item;
    if ((name == "BODY" && parser.peek() == '[') || name == "BODY.PEEK") {
        item.sets_seen = name == "BODY";
        parse_section(parser, item);
        return item;
    }
    for (const Named& known : kPlain) {
        if (name == known.name) {
            item.what = known.what;
            item.sets_seen = known.sets_seen;
            item.label = std::move(name);
            return item;
        }
    }
    throw BadSyntax("This server cannot FETCH " + name);
}

}  // namespace

std::vector<FetchItem> parse_fetch_items(Parser& parser) {
    std::vector<FetchItem> items;
    if (parser.take('(')) {
        do {
            items.push_back(parse_item(parser, parser.fetch_name()));
        } while (parser.take(' '));
        parser.expect(')');
        return items;
    }
    std::string name = parser.fetch_name();
    if (name == "FAST") {
        for (const char* one : {"FLAGS", "INTERNALDATE", "RFC822.SIZE"}) {
            items.push_back(parse_item(parser, one));
        }
    } else {
        items.push_back(parse_item(parser, std::move(name)));
    }
    return items;
}

}  // namespace s80::uw
