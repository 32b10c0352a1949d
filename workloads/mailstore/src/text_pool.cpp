// SPDX-License-Identifier: GPL-2.0-or-later
#include "text_pool.h"

#include <algorithm>
#include <array>

namespace s80::mailstore {

namespace {

constexpr std::size_t kLineLimit = 76;
constexpr std::string_view kBase64Alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr auto kWords = std::to_array<std::string_view>({
    "the",      "of",       "and",        "to",         "a",        "in",       "for",        "is",
    "on",       "that",     "by",         "this",       "with",     "you",      "it",         "not",
    "or",       "be",       "are",        "from",       "at",       "as",       "your",       "all",
    "have",     "new",      "more",       "an",         "was",      "we",       "will",       "can",
    "about",    "if",       "my",         "has",        "but",      "our",      "one",        "other",
    "do",       "time",     "they",       "project",    "meeting",  "report",   "schedule",   "budget",
    "customer", "release",  "server",     "office",     "please",   "review",   "draft",      "attached",
    "question", "answer",   "Monday",     "Tuesday",    "Thursday", "week",     "month",      "quarter",
    "plan",     "design",   "contract",   "order",      "invoice",  "shipment", "travel",     "flight",
    "hotel",    "lunch",    "dinner",     "weekend",    "family",   "school",   "holiday",    "birthday",
    "picture",  "address",  "telephone",  "number",     "update",   "change",   "problem",    "solution",
    "test",     "result",   "figure",     "table",      "chapter",  "paper",    "conference", "deadline",
    "proposal", "research", "department", "university", "system",   "memory",   "processor",  "network",
    "software", "license",  "support",    "manager",    "engineer",
});
constexpr auto kGivenNames = std::to_array<std::string_view>({
    "alice", "robert", "carol", "david",  "emma",   "frank", "grace",  "henry",  "irene",  "james",
    "karen", "louis",  "maria", "nathan", "olivia", "peter", "rachel", "samuel", "teresa", "victor",
});
constexpr auto kSurnames = std::to_array<std::string_view>({
    "anderson", "baker",  "collins", "dawson",  "evans",  "fischer", "garcia", "hughes",
    "ivanov",   "jensen", "keller",  "lambert", "miller", "novak",   "olsen",  "parker",
    "quinn",    "romero", "schmidt", "turner",  "urban",  "vasquez", "walker", "young",
});

template <std::size_t N>
std::string_view pick(const std::array<std::string_view, N>& list, Random& random) {
    return list[random.below(N)];
}

std::string capitalised(std::string_view text) {
    std::string result(text);
    if (result[0] >= 'a' && result[0] <= 'z') {
        result[0] = static_cast<char>(result[0] - 'a' + 'A');
    }
    return result;
}

}  // namespace

std::string_view word(Random& random) {
    return pick(kWords, random);
}
std::string_view given_name(Random& random) {
    return pick(kGivenNames, random);
}
std::string_view family_name(Random& random) {
    return pick(kSurnames, random);
}

TextPool TextPool::prose(Random& random, std::size_t bytes) {
    TextPool pool;
    std::string line;
    while (pool.text_.size() < bytes) {
        for (std::uint32_t sentence = 3 + random.below(4); sentence > 0; --sentence) {
            for (std::uint32_t i = 0, length = 5 + random.below(12); i < length; ++i) {
                std::string next = i == 0 ? capitalised(word(random)) : std::string(word(random));
                if (i + 1 == length) {
                    next += '.';
                }
                if (line.size() + 1 + next.size() > kLineLimit) {
                    pool.add_line(line);
                    line.clear();
                }
                if (!line.empty()) {
                    line += ' ';
                }
                line += next;
            }
        }
        pool.add_line(line);
        pool.add_line({});
        line.clear();
    }
    pool.starts_.push_back(static_cast<std::uint32_t>(pool.text_.size()));
    return pool;
}

TextPool TextPool::base64(Random& random, std::size_t bytes) {
    TextPool pool;
    while (pool.text_.size() < bytes) {
        std::string line(kLineLimit, '\0');
        for (std::size_t i = 0; i < kLineLimit;) {
            std::uint64_t bits = random.bits();
            for (int left = 10; left > 0 && i < kLineLimit; --left, bits >>= 6) {
                line[i++] = kBase64Alphabet[bits & 63];  // ten characters a draw
            }
        }
        pool.add_line(line);
    }
    pool.starts_.push_back(static_cast<std::uint32_t>(pool.text_.size()));
    return pool;
}

void TextPool::append(std::string& out, std::size_t bytes, Random& random) const {
    std::size_t begin = starts_[random.below(static_cast<std::uint32_t>(starts_.size() - 1))];
    while (begin + bytes > text_.size()) {
        out.append(text_, begin);
        bytes -= text_.size() - begin;
        begin = 0;
    }
    out.append(text_, begin, starts_[line_at(begin + bytes)] - begin);
}

void TextPool::add_line(std::string_view line) {
    starts_.push_back(static_cast<std::uint32_t>(text_.size()));
    if (line.starts_with("From ")) {
        text_ += '>';
    }
    text_.append(line);
    text_ += '\n';
}

std::size_t TextPool::line_at(std::size_t at) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), at);
    return static_cast<std::size_t>(after - starts_.begin()) - 1;
}

}  // namespace s80::mailstore
