// SPDX-License-Identifier: GPL-2.0-or-later
#include "imap/response_parser.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "failure.h"

namespace s80::loadgen {
namespace {

/// Writes down what the parser says, the parts of a literal joined.
class Recorder final : public ResponseHandler {
public:
    void on_text(std::string_view text, bool begins, bool has_literal, std::uint64_t literal) override {
        tokens.push_back((begins ? "begin " : "on ") + std::string(text) +
                         (has_literal ? " literal " + std::to_string(literal) : ""));
        if (has_literal) {
            tokens.emplace_back("bytes ");
        }
    }
    void on_literal(std::string_view part) override { tokens.back() += part; }

    std::vector<std::string> tokens;
};

/// Feeds the bytes in pieces that end at the given places.
std::vector<std::string> parse(const std::string& bytes, const std::vector<std::size_t>& sizes) {
    ResponseParser parser;
    Recorder recorder;
    std::string kept;
    std::size_t at = 0;
    for (std::size_t i = 0; at < bytes.size(); ++i) {
        const std::size_t size = i < sizes.size() ? sizes[i] : bytes.size() - at;
        kept += bytes.substr(at, size);
        at += std::min(size, bytes.size() - at);
        kept.erase(0, parser.feed(kept, recorder));
    }
    EXPECT_EQ(kept, "");
    return recorder.tokens;
}

const std::string conversation =
    "* OK ready\r\n"
    "* 1 FETCH (BODY[] {12}\r\nline {3}\r\n\r\n FLAGS (\\Seen))\r\n"
    "* 2 FETCH (BODY[] {0}\r\n)\r\n"
    "* LIST () \"/\" {5}\r\nnames\r\n"
    "a1 OK {done\r\n";

TEST(ResponseParser, CutsLinesAndLiterals) {
    const std::vector<std::string> expected = {"begin * OK ready",
                                               "begin * 1 FETCH (BODY[]  literal 12",
                                               "bytes line {3}\r\n\r\n",
                                               "on  FLAGS (\\Seen))",
                                               "begin * 2 FETCH (BODY[]  literal 0",
                                               "bytes ",
                                               "on )",
                                               "begin * LIST () \"/\"  literal 5",
                                               "bytes names",
                                               "on ",
                                               "begin a1 OK {done"};
    EXPECT_EQ(parse(conversation, {}), expected);
}

TEST(ResponseParser, AnyChunkingGivesTheSameTokens) {
    const std::vector<std::string> expected = parse(conversation, {});
    EXPECT_TRUE(rc::check("tokens do not depend on the chunks", [&] {
        const auto sizes =
            *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 20));
        RC_ASSERT(parse(conversation, sizes) == expected);
    }));
}

TEST(ResponseParser, LiteralsOfAnyContentAreSkippedWhole) {
    EXPECT_TRUE(rc::check("a literal may hold anything", [](const std::string& content) {
        const std::string bytes =
            "* 1 FETCH (X {" + std::to_string(content.size()) + "}\r\n" + content + ")\r\n";
        const auto sizes = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 9));
        const std::vector<std::string> tokens = parse(bytes, sizes);
        RC_ASSERT(tokens.size() == 3u);
        RC_ASSERT(tokens[1] == "bytes " + content);
    }));
}

TEST(ResponseParser, TakesAllAnnouncementsOfALiteral) {
    const std::vector<std::string> expected = {"begin * 1 FETCH (A  literal 2",
                                               "bytes {1",
                                               "on  B  literal 0",
                                               "bytes ",
                                               "on  C  literal 1",
                                               "bytes )",
                                               "on )"};
    EXPECT_EQ(parse("* 1 FETCH (A {2}\r\n{1 B ~{0}\r\n C {1+}\r\n))\r\n", {}), expected);
}

TEST(ResponseParser, TextForPeopleAnnouncesNoLiteral) {
    for (const std::string line :
         {"* OK {5}", "* no [ALERT] {5}", "* BYE {5}", "* PREAUTH {5}", "* bad {5}", "a1 OK {5}", "+ {5}",
          "* LIST {5x}", "* LIST {}", "* LIST {99999999999999999999}"}) {
        EXPECT_EQ(parse(line + "\r\n* 1 EXISTS\r\n", {}),
                  (std::vector<std::string>{"begin " + line, "begin * 1 EXISTS"}));
    }
}

TEST(ResponseParser, RefusesALineWithoutCr) {
    ResponseParser parser;
    Recorder recorder;
    EXPECT_THROW(parser.feed("* OK\n", recorder), Failure);
}

}  // namespace
}  // namespace s80::loadgen
