// SPDX-License-Identifier: GPL-2.0-or-later
#include "imap/fetch_response.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

namespace s80::loadgen {
namespace {

/// A piece of a response, and the literal behind it.
struct Piece {
    std::string text;
    std::string literal;
};

struct Read {
    FetchedMessage message;
    std::string captured;
    bool complete = false;
};

Read read(const std::vector<Piece>& pieces) {
    Read result;
    FetchResponse response;
    response.begin(&result.captured);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const bool last = i + 1 == pieces.size();
        response.read(pieces[i].text, !last, pieces[i].literal.size());
        if (!last) {
            response.read_literal(pieces[i].literal);
        }
    }
    result.message = response.message();
    result.complete = response.complete();
    return result;
}

TEST(FetchResponse, ReadsItemsInAnyOrderAndCase) {
    for (const std::vector<Piece>& pieces : std::vector<std::vector<Piece>>{
             {{"(UID 7 RFC822.SIZE 5 FLAGS (\\Seen \\Deleted) BODY[] ", "abcde"}, {")", ""}},
             {{"(BODY[] ", "abcde"}, {" flags (\\deleted $x) rfc822.size 5 uid 7)", ""}},
             {{"(Flags (\\DELETED) MODSEQ (12) body[]<0> ", "abcde"},
              {" Uid 7 X \"UID 9 (\" Rfc822.Size 5)", ""}},
             {{"(UID 7 FLAGS (\\Deleted) RFC822.SIZE 5 BINARY.SIZE[1] 9 BINARY[1] ", "abcde"}, {")", ""}},
             {{"(RFC822 ", "abcde"},
              {" UID 7 FLAGS (\\Deleted) RFC822.SIZE 5 BODY (\"a\" (\"b\" NIL) 3))", ""}},
         }) {
        const Read got = read(pieces);
        EXPECT_TRUE(got.complete) << pieces[0].text;
        EXPECT_EQ(got.message.uid, 7u) << pieces[0].text;
        EXPECT_EQ(got.message.size, 5u) << pieces[0].text;
        EXPECT_EQ(got.message.texts, 1u) << pieces[0].text;
        EXPECT_EQ(got.message.text_bytes, 5u) << pieces[0].text;
        EXPECT_TRUE(got.message.deleted) << pieces[0].text;
        EXPECT_EQ(got.captured, "abcde") << pieces[0].text;
    }
}

TEST(FetchResponse, TakesATextAsQuotedStringLiteralOrNil) {
    EXPECT_EQ(read({{"(BODY[HEADER] \"a \\\"b\\\" \\\\ )\")", ""}}).captured, "a \"b\" \\ )");
    EXPECT_EQ(read({{"(BODY[HEADER] \"\")", ""}}).message.texts, 1u);
    EXPECT_EQ(read({{"(body[header] nil)", ""}}).message.texts, 1u);
    EXPECT_EQ(read({{"(BODY[TEXT] ", ""}, {")", ""}}).message.texts, 1u);
    EXPECT_EQ(read({{"(UID 3)", ""}}).message.texts, 0u);
}

TEST(FetchResponse, TakesHeaderFieldsAsStringsAndLiterals) {
    const Read got =
        read({{"(BODY[HEADER.FIELDS (\"a ] b\" ", "c]d"}, {" From)] ", "text"}, {" UID 2)", ""}});
    EXPECT_TRUE(got.complete);
    EXPECT_EQ(got.captured, "text");
    EXPECT_EQ(got.message.uid, 2u);
}

TEST(FetchResponse, LeavesLiteralsInListsAlone) {
    const Read got =
        read({{"(ENVELOPE (NIL ", "UID 5)"}, {" \")\" (\"a\")) UID 2 FLAGS (\\Deletedx Deleted))", ""}});
    EXPECT_TRUE(got.complete);
    EXPECT_EQ(got.message.uid, 2u);
    EXPECT_EQ(got.captured, "");
    EXPECT_FALSE(got.message.deleted);
}

TEST(FetchResponse, IsIncompleteUntilItsListEnds) {
    for (const char* text :
         {"", "(", "(UID", "(UID 3", "(FLAGS (\\Seen)", "(BODY[] \"", "(BODY[", "(UID 3) x", "UID 3)x"}) {
        EXPECT_FALSE(read({{text, ""}}).complete) << text;
    }
    EXPECT_EQ(read({{"(UID 99999999999 RFC822.SIZE 99999999999999999999999)", ""}}).message.uid, 0u);
    EXPECT_EQ(read({{"(UID 4294967295)", ""}}).message.uid, 4294967295u);
}

TEST(FetchResponse, AnyBytesAreRead) {
    EXPECT_TRUE(rc::check("no text harms the reader", [] {
        const auto characters =
            rc::gen::elementOf(std::string("()[]\"\\ {}<>NILUIDFLAGSBODYrfc822.size0123456789\r\n"));
        const auto texts =
            *rc::gen::container<std::vector<std::string>>(rc::gen::container<std::string>(characters));
        std::vector<Piece> pieces;
        for (const std::string& text : texts) {
            pieces.push_back({text, text});
        }
        const Read got = read(pieces);
        RC_ASSERT(got.captured.size() <= 4096u);
    }));
}

}  // namespace
}  // namespace s80::loadgen
