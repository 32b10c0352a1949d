// SPDX-License-Identifier: GPL-2.0-or-later
#include "job.hpp"

#include <algorithm>
#include <bitset>
#include <charconv>
#include <functional>
#include <map>
#include <vector>

#include "failure.hpp"

namespace s80::loadgen {

namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trim(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> found;
    for (text = trim(text); !text.empty(); text = trim(text)) {
        const std::size_t end = std::min(text.find_first_of(blanks), text.size());
        found.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return found;
}

[[noreturn]] void refuse(std::string_view key, std::string_view value, std::string_view allowed) {
    throw Fatal("job: " + std::string(key) + "=" + std::string(value) + " is not allowed: it must be " +
                std::string(allowed));
}

template <typename Number>
Number number(std::string_view key, std::string_view value, Number least, std::string_view allowed) {
    Number result{};
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc() || end != value.data() + value.size() || !(result >= least)) {
        refuse(key, value, allowed);
    }
    return result;
}

Weights weights(std::string_view key, std::string_view value) {
    constexpr std::string_view allowed = "ten numbers, none negative, not all zero";
    const std::vector<std::string_view> fields = words(value);
    if (fields.size() != transaction_types) refuse(key, value, allowed);
    Weights result;
    double sum = 0;
    for (std::size_t i = 0; i < transaction_types; ++i) {
        sum += result[i] = number(key, fields[i], 0.0, allowed);
    }
    if (!(sum > 0)) refuse(key, value, allowed);
    return result;
}

std::size_t choice(std::string_view key, std::string_view value, std::vector<std::string_view> names,
                   std::string_view allowed) {
    const auto found = std::find(names.begin(), names.end(), value);
    if (found == names.end()) refuse(key, value, allowed);
    return static_cast<std::size_t>(found - names.begin());
}

class Reader {
public:
    Reader();
    Job read(std::string_view text);

private:
    using Setter = std::function<void(std::string_view key, std::string_view value)>;

    void take(std::string_view line);
    void check() const;

    template <typename Number>
    Setter to(Number Job::*field, Number least, std::string_view allowed) {
        return [this, field, least, allowed](std::string_view key, std::string_view value) {
            job_.*field = number<Number>(key, value, least, allowed);
        };
    }

    Job job_;
    std::bitset<transaction_types> rows_;
    bool has_mix_ = false;
    std::map<std::string_view, Setter> setters_;
};

Reader::Reader() {
    constexpr std::string_view positive = "a whole number of at least 1";
    constexpr std::string_view whole = "a whole number of at least 0";
    constexpr std::string_view amount = "a number of at least 0";
    setters_["hold"] = [this](auto key, auto value) {
        job_.hold = choice(key, value, {"0", "1"}, "0 or 1") == 1;
    };
    setters_["mix"] = [this](auto, auto value) { job_.mix = value; };
    setters_["clients"] = to(&Job::clients, 1u, positive);
    setters_["users"] = to(&Job::users, 1u, positive);
    setters_["think_ms"] = to(&Job::think_ms, 0.0, amount);
    setters_["seed"] = to(&Job::seed, std::uint64_t{0}, whole);
    setters_["mailboxes_min"] = to(&Job::mailboxes_min, 1u, positive);
    setters_["mailboxes_max"] = to(&Job::mailboxes_max, 1u, positive);
    setters_["messages_min"] = to(&Job::messages_min, 0u, whole);
    setters_["messages_max"] = to(&Job::messages_max, 1u, positive);
    setters_["incoming_per_s"] = to(&Job::incoming_per_s, 0.0, amount);
    setters_["reply_timeout_s"] = to(&Job::reply_timeout_s, 0.001, "a number of at least 0.001");
    setters_["tick_hz"] = to(&Job::tick_hz, 0.0, amount);
    setters_["time_ratio"] = to(&Job::time_ratio, 0.001, "a number of at least 0.001");
    setters_["warmup_s"] = to(&Job::warmup_s, 0.0, amount);
    setters_["measure_s"] = to(&Job::measure_s, 0.0, amount);
    setters_["think"] = [this](auto key, auto value) {
        job_.think_constant = choice(key, value, {"exponential", "constant"}, "exponential or constant") == 1;
    };
    setters_["driver"] = [this](auto key, auto value) {
        job_.chain = choice(key, value, {"chain", "independent"}, "chain or independent") == 0;
    };
    setters_["move"] = [this](auto key, auto value) {
        job_.move = static_cast<MoveMode>(choice(key, value, {"auto", "move", "copy"}, "auto, move or copy"));
    };
    setters_["transactions"] = [](auto key, auto value) {
        const std::vector<std::string_view> names = words(value);
        if (!std::equal(names.begin(), names.end(), transaction_names.begin(), transaction_names.end())) {
            refuse(key, value, "CRTE DELT RENM SRCH SELT COPY MOVE VIEW SEND MDEL");
        }
    };
    setters_["mix_percent"] = [this](auto key, auto value) {
        job_.mix_percent = weights(key, value);
        has_mix_ = true;
    };
    for (std::size_t i = 0; i < transaction_types; ++i) {
        static const std::array<std::string, transaction_types> keys = [] {
            std::array<std::string, transaction_types> made;
            for (std::size_t j = 0; j < transaction_types; ++j) {
                made[j] = "transition." + std::string(transaction_names[j]);
            }
            return made;
        }();
        setters_[keys[i]] = [this, i](auto key, auto value) {
            job_.transitions[i] = weights(key, value);
            rows_.set(i);
        };
    }
}

void Reader::take(std::string_view line) {
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) return;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
        throw Fatal("job: the line '" + std::string(line) + "' is not of the form key=value");
    }
    const std::string_view key = trim(line.substr(0, equals));
    const auto setter = setters_.find(key);
    if (setter == setters_.end()) {
        std::string known;
        for (const auto& [name, unused] : setters_) known += (known.empty() ? "" : ", ") + std::string(name);
        throw Fatal("job: unknown key '" + std::string(key) + "'; known are " + known);
    }
    setter->second(key, trim(line.substr(equals + 1)));
}

void Reader::check() const {
    if (!has_mix_) throw Fatal("job: the key mix_percent is missing");
    if (job_.chain && !rows_.all()) {
        for (std::size_t i = 0; i < transaction_types; ++i) {
            if (!rows_[i]) {
                throw Fatal("job: the key transition." + std::string(transaction_names[i]) +
                            " is missing: driver=chain needs all ten");
            }
        }
    }
    if (job_.mailboxes_min > job_.mailboxes_max) throw Fatal("job: mailboxes_min is above mailboxes_max");
    if (job_.messages_min > job_.messages_max) throw Fatal("job: messages_min is above messages_max");
}

Job Reader::read(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        take(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    check();
    return job_;
}

}  // namespace

Job parse_job(std::string_view text) {
    return Reader().read(text);
}

void require_phases(const Job& job) {
    if (!(job.measure_s > 0)) {
        throw Fatal("job: the key measure_s is missing: without a clock page it sets the region's length");
    }
}

}  // namespace s80::loadgen
