// SPDX-License-Identifier: GPL-2.0-or-later
#include "job.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "failure.h"
#include "fields.h"
#include "message.h"
#include "scripts/reader.h"

namespace s80::loadgen {

namespace {

Weights weights(std::string_view key, std::string_view value, std::size_t types) {
    const std::string allowed = std::to_string(types) + " numbers, none negative, not all zero";
    const std::vector<std::string_view> fields = words(value);
    if (fields.size() != types) {
        refuse(key, value, allowed);
    }
    Weights result;
    double sum = 0;
    for (const std::string_view field : fields) {
        sum += result.emplace_back(number(key, field, 0.0, std::string_view(allowed)));
    }
    if (!(sum > 0)) {
        refuse(key, value, allowed);
    }
    return result;
}

using Setter = std::function<void(std::string_view key, std::string_view value)>;

/// Fills in a job; what its keys are depends on its protocol.
class Reader {
public:
    explicit Reader(const Protocol& protocol);
    void take(std::string_view key, std::string_view value);
    Job finish();

private:
    void add_amounts();
    void add_choices();
    void add_mix();
    void add_scripts();
    void add_tls();
    void finish_mix();

    template <typename Number>
    Setter to(Number Job::*field, Number least, std::string_view allowed) {
        return [this, field, least, allowed](std::string_view key, std::string_view value) {
            job_.*field = number<Number>(key, value, least, allowed);
        };
    }

    Job job_;
    ScriptReader scripts_;
    std::map<std::string, Setter, std::less<>> setters_;
};

Reader::Reader(const Protocol& protocol) {
    job_.protocol = &protocol;
    job_.transactions.assign(protocol.transactions.begin(), protocol.transactions.end());
    job_.transitions.resize(protocol.transactions.size());
    setters_["protocol"] = [](auto, auto) {};  // known already
    setters_["mix"] = [this](auto, auto value) { job_.mix = value; };
    setters_["hold"] = [this](auto key, auto value) {
        job_.hold = choice(key, value, {"0", "1"}, "0 or 1") == 1;
    };
    add_amounts();
    if (&protocol == &script_protocol || &protocol == &web_protocol) {
        add_tls();
    }
    if (&protocol == &script_protocol) {
        add_scripts();
    } else {
        add_choices();
        add_mix();
    }
}

void Reader::add_tls() {
    setters_["tls"] = [this](auto key, auto value) {
        job_.tls = choice(key, value, {"0", "1"}, "0 or 1") == 1;
    };
}

void Reader::add_scripts() {
    setters_["recipients"] = [this](auto key, auto value) {
        job_.to_clients = choice(key, value, {"accounts", "clients"}, "accounts or clients") == 1;
        job_.script_lines.append(key).append("=").append(value).append("\n");
    };
    for (const std::string_view name : ScriptReader::keys()) {
        setters_[std::string(name)] = [this](auto key, auto value) {
            scripts_.take(key, value);
            job_.script_lines.append(key).append("=").append(value).append("\n");
        };
    }
}

void Reader::add_amounts() {
    constexpr std::string_view kPositive = "a whole number of at least 1";
    constexpr std::string_view kWhole = "a whole number of at least 0";
    constexpr std::string_view kAmount = "a number of at least 0";
    constexpr std::string_view kMessageSizes = "16 to 65536 bytes";
    setters_["clients"] = to(&Job::clients, 1u, kPositive);
    setters_["users"] = to(&Job::users, 1u, kPositive);
    setters_["think_ms"] = to(&Job::think_ms, 0.0, kAmount);
    setters_["seed"] = to(&Job::seed, std::uint64_t{0}, kWhole);
    setters_["mailboxes_min"] = to(&Job::mailboxes_min, 1u, kPositive);
    setters_["mailboxes_max"] = to(&Job::mailboxes_max, 1u, kPositive);
    setters_["messages_min"] = to(&Job::messages_min, 0u, kWhole);
    setters_["messages_max"] = to(&Job::messages_max, 1u, kPositive);
    setters_["incoming_per_s"] = to(&Job::incoming_per_s, 0.0, kAmount);
    setters_["retrieve_max"] = to(&Job::retrieve_max, 1u, kPositive);
    setters_["delete_percent"] = to(&Job::delete_percent, 0.0, kAmount);
    setters_["requests_max"] = to(&Job::requests_max, 1u, kPositive);
    setters_["batch"] = to(&Job::batch, 1u, kPositive);
    setters_["rate_kbps"] = to(&Job::rate_kbps, 1u, kPositive);
    setters_["play_ms"] = to(&Job::play_ms, 1u, kPositive);
    setters_["late_ms"] = to(&Job::late_ms, 0.0, kAmount);
    setters_["message_bytes"] =
        to(&Job::message_bytes, static_cast<unsigned>(route::kHeaderBytes), kMessageSizes);
    setters_["working_set"] = to(&Job::working_set, 1u, kPositive);
    setters_["stride"] = to(&Job::stride, 1u, kPositive);
    setters_["reply_timeout_s"] = to(&Job::reply_timeout_s, 0.001, "a number of at least 0.001");
    setters_["clock_shift"] = [this](auto key, auto value) {
        constexpr std::string_view kAllowed = "a whole number from 0 to 10";
        job_.clock_shift = number(key, value, 0u, kAllowed);
        if (job_.clock_shift > 10) {
            refuse(key, value, kAllowed);
        }
    };
    setters_["warmup_s"] = to(&Job::warmup_s, 0.0, kAmount);
    setters_["measure_s"] = to(&Job::measure_s, 0.0, kAmount);
}

void Reader::add_choices() {
    setters_["think"] = [this](auto key, auto value) {
        job_.think_constant = choice(key, value, {"exponential", "constant"}, "exponential or constant") == 1;
    };
    setters_["media"] = [this](auto key, auto value) {
        job_.media_unique = choice(key, value, {"unique", "multiple"}, "unique or multiple") == 0;
    };
    setters_["driver"] = [this](auto key, auto value) {
        job_.chain = choice(key, value, {"chain", "independent"}, "chain or independent") == 0;
    };
    setters_["move"] = [this](auto key, auto value) {
        job_.move = static_cast<MoveMode>(choice(key, value, {"auto", "move", "copy"}, "auto, move or copy"));
    };
    setters_["header_fetch"] = [this](auto key, auto value) {
        constexpr std::string_view kAllowed = "range, each or a whole number of at least 1";
        job_.header_fetch = value == "range" ? 0 : value == "each" ? 1 : number(key, value, 1u, kAllowed);
    };
}

void Reader::add_mix() {
    const auto& names = job_.protocol->transactions;
    setters_["transactions"] = [names](auto key, auto value) {
        const std::vector<std::string_view> given = words(value);
        if (!std::equal(given.begin(), given.end(), names.begin(), names.end())) {
            refuse(key, value, joined(names, " "));
        }
    };
    setters_["mix_percent"] = [this](auto key, auto value) {
        job_.mix_percent = weights(key, value, job_.transitions.size());
    };
    for (std::size_t i = 0; i < names.size(); ++i) {
        setters_["transition." + std::string(names[i])] = [this, i](auto key, auto value) {
            job_.transitions[i] = weights(key, value, job_.transitions.size());
        };
    }
}

void Reader::take(std::string_view key, std::string_view value) {
    const auto setter = setters_.find(key);
    if (setter == setters_.end()) {
        std::vector<std::string> known;
        for (const auto& [name, unused] : setters_) {
            known.push_back(name);
        }
        throw Fatal("job: unknown key '" + std::string(key) + "'; known are " + joined(known, ", "));
    }
    setter->second(key, value);
}

Job Reader::finish() {
    if (job_.protocol == &script_protocol) {
        scripts_.finish(job_.clients, job_.users);
        for (const Script& script : scripts_.scripts) {
            job_.transactions.push_back(script.name);
        }
        job_.scripts = std::move(scripts_.scripts);
        job_.sizes = std::move(scripts_.sizes);
    } else {
        finish_mix();
    }
    return job_;
}

void Reader::finish_mix() {
    if (job_.mix_percent.empty()) {
        throw Fatal("job: the key mix_percent is missing");
    }
    for (std::size_t i = 0; job_.chain && i < job_.transitions.size(); ++i) {
        if (job_.transitions[i].empty()) {
            throw Fatal("job: the key transition." + std::string(job_.protocol->transactions[i]) +
                        " is missing: driver=chain needs one for each transaction");
        }
    }
    if (job_.mailboxes_min > job_.mailboxes_max) {
        throw Fatal("job: mailboxes_min is above mailboxes_max");
    }
    if (job_.messages_min > job_.messages_max) {
        throw Fatal("job: messages_min is above messages_max");
    }
    if (job_.delete_percent > 100) {
        throw Fatal("job: delete_percent is above 100");
    }
    if (job_.message_bytes > route::kMostBytes) {
        throw Fatal("job: message_bytes is above 65536");
    }
}

using Line = std::pair<std::string_view, std::string_view>;  // key and value

std::vector<Line> lines_of(std::string_view text) {
    std::vector<Line> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        line = trim(line.substr(0, line.find('#')));
        if (line.empty()) {
            continue;
        }
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) {
            throw Fatal("job: the line '" + std::string(line) + "' is not of the form key=value");
        }
        lines.emplace_back(trim(line.substr(0, equals)), trim(line.substr(equals + 1)));
    }
    return lines;
}

const Protocol& protocol_of(const std::vector<Line>& lines) {
    const Protocol* protocol = &imap_protocol;
    for (const auto& [key, value] : lines) {
        if (key != "protocol") {
            continue;
        }
        protocol = find_protocol(value);
        if (protocol != nullptr) {
            continue;
        }
        std::vector<std::string_view> known;
        for (const Protocol* one : protocols()) {
            known.push_back(one->name);
        }
        refuse(key, value, "one of " + joined(known, ", "));
    }
    return *protocol;
}

}  // namespace

Job parse_job(std::string_view text) {
    const std::vector<Line> lines = lines_of(text);
    Reader reader(protocol_of(lines));
    for (const auto& [key, value] : lines) {
        reader.take(key, value);
    }
    return reader.finish();
}

void require_phases(const Job& job) {
    if (!(job.measure_s > 0)) {
        throw Fatal("job: the key measure_s is missing: without the plugin it sets the region's length");
    }
}

}  // namespace s80::loadgen
