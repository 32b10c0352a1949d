// SPDX-License-Identifier: GPL-2.0-or-later
#include "fetch_items.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace s80::uw {
namespace {

using What = FetchItem::What;

std::vector<FetchItem> items(std::string_view text) {
    Parser parser(text);
    std::vector<FetchItem> found = parse_fetch_items(parser);
    parser.end();
    return found;
}

TEST(FetchItems, WhatTheLoadGeneratorAsks) {
    const auto list = items("(UID FLAGS BODY.PEEK[HEADER])");
    ASSERT_EQ(list.size(), 3U);
    EXPECT_EQ(list[0].what, What::uid);
    EXPECT_EQ(list[1].what, What::flags);
    EXPECT_EQ(list[2].what, What::header);
    EXPECT_EQ(list[2].label, "BODY[HEADER]");
    EXPECT_FALSE(list[2].sets_seen);

    const auto body = items("BODY[]");
    ASSERT_EQ(body.size(), 1U);
    EXPECT_EQ(body[0].what, What::whole);
    EXPECT_EQ(body[0].label, "BODY[]");
    EXPECT_TRUE(body[0].sets_seen);
}

TEST(FetchItems, SectionsPartsAndMacros) {
    const auto fields = items("BODY.PEEK[HEADER.FIELDS.NOT (subject \"To\")]<10.20>");
    ASSERT_EQ(fields.size(), 1U);
    EXPECT_EQ(fields[0].what, What::header_fields);
    EXPECT_TRUE(fields[0].all_but);
    EXPECT_EQ(fields[0].fields, (std::vector<std::string>{"subject", "To"}));
    EXPECT_EQ(fields[0].label, "BODY[HEADER.FIELDS.NOT (\"subject\" \"To\")]<10>");
    ASSERT_TRUE(fields[0].part.has_value());
    EXPECT_EQ(fields[0].part->first, 10U);
    EXPECT_EQ(fields[0].part->count, 20U);
    EXPECT_EQ(items("FAST").size(), 3U);
    EXPECT_EQ(items("rfc822.size").front().what, What::size);
}

TEST(FetchItems, RefusesWhatIsNotOffered) {
    for (const char* text : {"", "()", "(FLAGS", "BODY", "BODY[1]", "BODY[HEADER", "BODY[]<1>", "ENVELOPE",
                             "BODY[HEADER.FIELDS ()]", "(FLAGS  UID)", "BODY.PEEK"}) {
        EXPECT_THROW(items(text), BadSyntax) << text;
    }
}

/// Texts out of what commands are made of, most of them wrong.
rc::Gen<std::string> pieces() {
    static const std::vector<std::string> words = {
        "(",   ")", "[",    "]",    "<",      ">",      ".",   " ",     "\"",   "\\", "{",  "3}",
        "1:*", "0", "BODY", "PEEK", "HEADER", "FIELDS", "UID", "FLAGS", "TEXT", "x",  "\r", "\xff"};
    return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(words)),
                        [](const std::vector<std::string>& chosen) {
                            std::string text;
                            for (const std::string& word : chosen) {
                                text += word;
                            }
                            return text;
                        });
}

TEST(FetchItems, AnyTextIsReadOrRefused) {
    EXPECT_TRUE(rc::check("only BadSyntax comes out", [] {
        const std::string text = *pieces();
        try {
            for (const FetchItem& item : items(text)) {
                RC_ASSERT(!item.label.empty());
            }
        } catch (const BadSyntax&) {
        }
        for (auto read : {+[](Parser& p) { p.astring(); }, +[](Parser& p) { p.flags(); },
                          +[](Parser& p) { p.sequence(); }, +[](Parser& p) { p.pattern(); }}) {
            Parser parser(text);
            try {
                read(parser);
            } catch (const BadSyntax&) {
            }
        }
    }));
}

}  // namespace
}  // namespace s80::uw
