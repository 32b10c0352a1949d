// SPDX-License-Identifier: GPL-2.0-or-later
#include "scripts/script.h"

#include <algorithm>

namespace s80::loadgen {

namespace {

std::span<const Action> actions_of(Script::Speaks protocol) {
    switch (protocol) {
        case Script::Speaks::imap: return imap_actions;
        case Script::Speaks::pop3: return pop3_actions;
        case Script::Speaks::smtp: break;
    }
    return smtp_actions;
}

}  // namespace

double Wait::draw_ns(Random& random) const {
    constexpr double kNsPerMs = 1e6;
    switch (form) {
        case Form::constant: break;
        case Form::uniform: return (ms + (most_ms - ms) * random.uniform()) * kNsPerMs;
        case Form::exponential: return random.exponential(ms) * kNsPerMs;
    }
    return ms * kNsPerMs;
}

const Action* Script::find(std::string_view wanted) const {
    for (const auto& actions : {actions_of(speaks), smtp_actions}) {
        for (const Action& action : actions) {
            if (action.name == wanted) {
                return &action;
            }
        }
    }
    return nullptr;
}

std::string Script::known_actions() const {
    std::string known = "wait, connection, repeat, percent, offline, end";
    for (const Action& action : actions_of(speaks)) {
        known.append(", ").append(action.name);
    }
    return speaks == Speaks::smtp ? known : known + ", send";
}

void SizeTable::add(std::size_t bytes, double percent) {
    bytes_.push_back(bytes);
    shares_.push_back(percent);
    distribution_ = Distribution(shares_);
}

std::size_t SizeTable::nearest(std::size_t bytes) const {
    // a is nearer than b where max(a, x) / min(a, x) is less.
    const auto ratio = [bytes](std::size_t one) {
        return static_cast<double>(std::max(one, bytes)) /
               static_cast<double>(std::max<std::size_t>(1, std::min(one, bytes)));
    };
    return *std::min_element(bytes_.begin(), bytes_.end(),
                             [&](std::size_t a, std::size_t b) { return ratio(a) < ratio(b); });
}

}  // namespace s80::loadgen
