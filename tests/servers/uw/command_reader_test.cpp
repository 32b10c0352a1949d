// SPDX-License-Identifier: GPL-2.0-or-later
#include "command_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace s80::uw {
namespace {

using Result = CommandReader::Result;

/// Gives out a text in pieces and keeps what is written.
class Text final : public ByteStream {
public:
    Text(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}

    std::size_t read(std::span<char> into) override {
        const std::size_t count = std::min({piece_, into.size(), text_.size() - at_});
        if (count == 0) {
            throw Gone("the end");
        }
        text_.copy(into.data(), count, at_);
        at_ += count;
        return count;
    }
    void write(std::string_view bytes) override { written += bytes; }
    void flush() override {}

    std::string written;

private:
    std::string text_;
    std::size_t piece_;
    std::size_t at_ = 0;
};

constexpr Limits kSmall = {40, 10, 30};

class InPieces : public testing::TestWithParam<std::size_t> {};

TEST_P(InPieces, CommandsComeWholeAndInOrder) {
    Text stream("a1 NOOP\r\na2 LOGIN {4}\r\nus\r\n {2}\r\npw\r\na3 NOOP\n", GetParam());
    CommandReader reader(stream);
    std::string text;
    EXPECT_EQ(reader.next(text), Result::command);
    EXPECT_EQ(text, "a1 NOOP");
    EXPECT_EQ(reader.next(text), Result::command);
    EXPECT_EQ(text, "a2 LOGIN {4}us\r\n {2}pw");
    EXPECT_EQ(stream.written, "+ go ahead\r\n+ go ahead\r\n");
    EXPECT_EQ(reader.next(text), Result::command);
    EXPECT_EQ(text, "a3 NOOP");
    EXPECT_THROW(reader.next(text), Gone);
}

TEST_P(InPieces, ALineThatIsTooLongIsThrownAway) {
    Text stream("a1 " + std::string(500, 'x') + "\r\na2 NOOP\r\n", GetParam());
    CommandReader reader(stream, kSmall);
    std::string text;
    EXPECT_EQ(reader.next(text), Result::line_too_long);
    EXPECT_TRUE(text.starts_with("a1 ") || text.empty());
    EXPECT_LE(text.size(), kSmall.line);
    EXPECT_EQ(reader.next(text), Result::command);
    EXPECT_EQ(text, "a2 NOOP");
}

TEST_P(InPieces, ALiteralThatIsTooLongIsNotAskedFor) {
    for (const char* line :
         {"a1 LOGIN {11}\r\n", "a1 LOGIN {99999999999999999999}\r\n", "a1 APPEND x {31}\r\n"}) {
        Text stream(std::string(line) + "a2 NOOP\r\n", GetParam());
        CommandReader reader(stream, kSmall);
        std::string text;
        EXPECT_EQ(reader.next(text), Result::literal_too_long) << line;
        EXPECT_EQ(stream.written, "");
        EXPECT_EQ(reader.next(text), Result::command);
        EXPECT_EQ(text, "a2 NOOP");
    }
}

TEST_P(InPieces, OnlyAppendMayBringAMessage) {
    Text stream("a1 append x {30}\r\n" + std::string(30, 'm') + "\r\n", GetParam());
    CommandReader reader(stream, kSmall);
    std::string text;
    EXPECT_EQ(reader.next(text), Result::command);
    EXPECT_EQ(text, "a1 append x {30}" + std::string(30, 'm'));
}

INSTANTIATE_TEST_SUITE_P(Reads, InPieces, testing::Values(1, 2, 7, 1000));

}  // namespace
}  // namespace s80::uw
