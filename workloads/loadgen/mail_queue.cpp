// SPDX-License-Identifier: GPL-2.0-or-later
#include "mail_queue.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "failure.h"

namespace s80::loadgen {

namespace {

/// From one look to the next, on the clock in use. The event loop waits no longer, so that nothing wakes up
/// for a look alone.
constexpr std::uint64_t kLookNs = 50'000'000;

/// What stands behind the words; nothing where the line has not got them.
std::optional<std::string_view> behind(std::string_view line, std::string_view words) {
    const std::size_t at = line.find(words);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    return line.substr(at + words.size());
}

/// Of a message that was accepted: SESSION smtp message msgid=MESSAGE size=BYTES nrcpt=COUNT proto=NAME.
std::optional<std::uint64_t> recipients(std::string_view line) {
    const auto message = behind(line, " smtp message msgid=");
    if (!message) {
        return std::nullopt;
    }
    std::uint64_t count = 0;
    const std::string_view digits = behind(*message, " nrcpt=").value_or("");
    std::from_chars(digits.begin(), digits.end(), count);
    return count;
}

/// Of a delivery by a program: SESSION mda delivery evpid=ENVELOPE ... result=WORD stat=TEXT; by a relay, mta
/// for mda, and WORD and TEXT in quotes.
std::optional<std::string_view> outcome(std::string_view line) {
    auto delivery = behind(line, " mda delivery evpid=");
    if (!delivery) {
        delivery = behind(line, " mta delivery evpid=");
    }
    if (!delivery) {
        return std::nullopt;
    }
    std::string_view word = behind(*delivery, " result=").value_or("");
    if (word.starts_with('"')) {
        word.remove_prefix(1);
    }
    return word.substr(0, word.find_first_of("\" "));
}

}  // namespace

MailQueue::MailQueue(const std::string& log) : file_(open(log.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) {
        throw Fatal("the mail log " + log + " cannot be opened: " + std::strerror(errno));
    }
}

MailQueue::~MailQueue() {
    close(file_);
}

void MailQueue::look() {
    std::array<char, 16384> part;
    ssize_t bytes;
    do {
        bytes = read(file_, part.data(), part.size());
        if (bytes < 0) {
            throw Fatal(std::string("the mail log cannot be read: ") + std::strerror(errno));
        }
        unread_.append(part.data(), static_cast<std::size_t>(bytes));
    } while (static_cast<std::size_t>(bytes) == part.size());
    std::size_t at = 0;
    for (std::size_t end; (end = unread_.find('\n', at)) != std::string::npos; at = end + 1) {
        take(std::string_view(unread_).substr(at, end - at));
    }
    unread_.erase(0, at);
}

void MailQueue::take(std::string_view line) {
    if (const auto count = recipients(line)) {
        counts_.accepted += *count;
    } else if (const auto word = outcome(line)) {
        if (*word == "Ok") {
            ++counts_.delivered;
        } else if (*word == "PermFail") {
            ++counts_.refused;
        } else {
            ++counts_.put_off;
        }
    }
}

std::uint64_t MailQueue::length() const {
    const std::uint64_t left = counts_.delivered + counts_.refused;
    return counts_.accepted > left ? counts_.accepted - left : 0;
}

void MailQueue::look_by_turns(std::uint64_t now_ns) {
    if (now_ns < next_look_ns_) {
        return;
    }
    next_look_ns_ = (now_ns / kLookNs + 1) * kLookNs;
    look_in_region();
}

void MailQueue::begin_region(std::uint64_t now_ns) {
    next_look_ns_ = (now_ns / kLookNs + 1) * kLookNs;
    looks_ = sum_ = 0;
    look_in_region();
    begin_ = length();
    accepted_before_ = counts_.accepted;
}

void MailQueue::end_region() {
    look_in_region();
}

void MailQueue::look_in_region() {
    look();
    ++looks_;
    sum_ += length();
}

double MailQueue::mean() const {
    return looks_ > 0 ? static_cast<double>(sum_) / static_cast<double>(looks_) : 0;
}

}  // namespace s80::loadgen
