// SPDX-License-Identifier: GPL-2.0-or-later
#include "message_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <string_view>

namespace s80::loadgen {

namespace {

constexpr std::size_t kLongestMessage = 140 * 1024;
constexpr std::size_t kLineLength = 72;

constexpr std::array<std::string_view, 32> kWords = {
    "agenda",  "answer",   "budget",   "change",   "comment", "contract", "customer", "deadline",
    "default", "delivery", "design",   "document", "error",   "figure",   "forecast", "invoice",
    "letter",  "machine",  "meeting",  "minutes",  "number",  "office",   "order",    "paper",
    "plan",    "project",  "question", "report",   "review",  "schedule", "server",   "summary"};

std::string_view word(Random& random) {
    return kWords[random.below(kWords.size())];
}

std::string date() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[64];
    const std::size_t length = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S +0000", &parts);
    return std::string(text, length);
}

}  // namespace

std::size_t message_size(double uniform) {
    struct Class {
        double below;
        std::size_t bytes;
    };
    // as in the mail store (workloads/mailstore/src/sizes.h)
    constexpr std::array<Class, 5> kClasses = {
        {{0.45, 1062}, {0.83, 2050}, {0.93, 5321}, {0.98, 34762}, {1.0, 139602}}};
    const auto found = std::find_if(kClasses.begin(), kClasses.end(),
                                    [uniform](const Class& one) { return uniform < one.below; });
    return found->bytes;
}

MessageText::MessageText() {
    Random random(1, 0);  // the filler is the same in every run
    while (lines_.size() < 2 * kLongestMessage) {
        starts_.push_back(lines_.size());
        std::string line(word(random));
        while (line.size() < kLineLength) {
            line.append(" ").append(word(random));
        }
        lines_ += line + "\r\n";
    }
}

std::string MessageText::compose(Random& random, const std::string& from, const std::string& to,
                                 std::size_t size) const {
    char id[40];
    std::snprintf(id, sizeof id, "%016llx", static_cast<unsigned long long>(random.bits()));
    std::string message;
    message.reserve(size + 1024);
    message.append("From: <").append(from).append(">\r\nTo: <").append(to).append(">\r\nSubject: ");
    message.append(word(random)).append(" ").append(word(random)).append(" ").append(word(random));
    message.append("\r\nDate: ").append(date());
    message.append("\r\nMessage-ID: <").append(id).append("@loadgen.s80.example>\r\n");
    message.append("MIME-Version: 1.0\r\nContent-Type: text/plain; charset=us-ascii\r\n");
    message.append("Content-Transfer-Encoding: 7bit\r\n\r\n");
    const std::size_t body = size > message.size() ? size - message.size() : 0;
    // Whole lines from a random place of the filler's first half; its second half is long enough.
    const std::size_t first = random.below(starts_.size() / 2);
    const auto last = std::upper_bound(starts_.begin(), starts_.end(), starts_[first] + body) - 1;
    message.append(lines_, starts_[first], *last - starts_[first]);
    return message;
}

}  // namespace s80::loadgen
