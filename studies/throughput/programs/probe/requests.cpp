// SPDX-License-Identifier: GPL-2.0-or-later
#include "requests.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace s80::probe {

namespace {

constexpr std::size_t kLeastBytes = 4096;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kMostStride = 4096;
constexpr std::size_t kMostTimes = 1'000'000'000;
constexpr std::size_t kWord = sizeof(std::uint32_t);

/// What stands behind the request's name; throws where that is not `count` whole numbers.
std::vector<std::size_t> numbers(std::string_view line, std::size_t count) {
    std::vector<std::size_t> found;
    std::string_view rest = line.substr(std::min(line.find(' '), line.size()));
    while (!rest.empty()) {
        std::size_t number = 0;
        const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
        if (rest.front() != ' ' || error != std::errc()) {
            break;
        }
        found.push_back(number);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    }
    if (!rest.empty() || found.size() != count) {
        throw std::invalid_argument("unknown request: " + std::string(line));
    }
    return found;
}

std::size_t times(std::string_view line) {
    const std::size_t count = numbers(line, 1)[0];
    if (count < 1 || count > kMostTimes) {
        throw std::invalid_argument("a count must be from 1 to 1000000000");
    }
    return count;
}

bool power_within(std::size_t number, std::size_t least, std::size_t most) {
    return std::has_single_bit(number) && number >= least && number <= most;
}

}  // namespace

std::string Requests::answer(std::string_view line) {
    const std::string name(line.substr(0, line.find(' ')));
    try {
        if (name == "OPEN") {
            const auto sizes = numbers(line, 2);
            return open(sizes[0], sizes[1]);
        }
        const std::size_t count = times(line);
        if (!block_) {
            throw std::invalid_argument("OPEN must come first");
        }
        if (name == "COPY") {
            return name + " " + std::to_string(block_->copy(count));
        }
        if (name == "KEEP") {
            return name + " " + std::to_string(pair_->keep(count));
        }
        if (name != "PASS") {
            throw std::invalid_argument("unknown request: " + std::string(line));
        }
        if (count % 2 != 0) {
            throw std::invalid_argument("the number of turns must be even, because two processes alternate");
        }
        return name + " " + std::to_string(pair_->pass(count));
    } catch (const std::exception& error) {
        return std::string("ERR ") + error.what();
    }
}

std::string Requests::open(std::size_t bytes, std::size_t stride) {
    if (!power_within(bytes, kLeastBytes, kMostBytes)) {
        throw std::invalid_argument("a working set must be a power of two from 4096 to 67108864 bytes");
    }
    if (!power_within(stride, kWord, kMostStride) || stride > bytes / 2) {
        throw std::invalid_argument(
            "a stride must be a power of two from 4 to 4096 bytes, and at most half of the working set");
    }
    const Shape shape{bytes, stride / kWord};
    block_.reset();
    pair_.reset();
    pair_.emplace(shape);
    block_.emplace(shape);  // last: what is written is not to be a page that the second process shares
    return "OPEN " + std::to_string(bytes / 2 / kWord);
}

}  // namespace s80::probe
