// SPDX-License-Identifier: GPL-2.0-or-later
#include "scripts/reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "failure.h"
#include "fields.h"

namespace s80::loadgen {

namespace {

constexpr std::size_t kMostScripts = 10;  // a marker's types
constexpr std::size_t kLeastBytes = 512;  // the header of a message and a line
constexpr std::size_t kMostBytes = 140 * 1024;
constexpr unsigned kMostConnections = 4;

using Words = std::vector<std::string_view>;

Wait read_wait(std::string_view key, std::string_view value, const Words& fields) {
    constexpr std::string_view kAllowed =
        "constant MS, uniform LEAST MOST or exponential MEAN, in milliseconds";
    if (fields.size() < 2) {
        refuse(key, value, kAllowed);
    }
    Wait wait;
    wait.form =
        static_cast<Wait::Form>(choice(key, fields[0], {"constant", "uniform", "exponential"}, kAllowed));
    if (fields.size() != (wait.form == Wait::Form::uniform ? 3 : 2)) {
        refuse(key, value, kAllowed);
    }
    wait.ms = number(key, fields[1], 0.0, kAllowed);
    if (wait.form == Wait::Form::uniform) {
        wait.most_ms = number(key, fields[2], wait.ms, kAllowed);
    }
    return wait;
}

std::size_t read_bytes(std::string_view key, std::string_view field) {
    constexpr std::string_view kAllowed = "512 to 143360 bytes";
    const auto bytes = number(key, field, kLeastBytes, kAllowed);
    if (bytes > kMostBytes) {
        refuse(key, field, kAllowed);
    }
    return bytes;
}

void read_arguments(Step& step, std::string_view key, const Words& fields) {
    using Form = Action::Form;
    const Form form = step.action->form;
    const bool sized = form == Form::word_bytes || form == Form::count_bytes;
    const bool optional = sized || form == Form::key_word;
    const std::size_t needed = form == Form::none ? 1 : 2;
    if (fields.size() != needed && !(optional && fields.size() == needed + 1)) {
        const std::string_view what =
            form == Form::none       ? "without arguments"
            : form == Form::range    ? "followed by `all`, `last` or a number"
            : form == Form::word     ? "followed by one word"
            : form == Form::key_word ? "followed by a search key and, if the key needs one, a word"
            : form == Form::word_bytes
                ? "followed by a mailbox and optionally a size in bytes"
                : "followed by the number of recipients and optionally a size in bytes";
        refuse(key, step.text, what);
    }
    if (form == Form::word || form == Form::word_bytes) {
        step.word = fields[1];
    } else if (form == Form::key_word) {
        step.key = fields[1];
        const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
        if (!std::all_of(step.key.begin(), step.key.end(), is_letter)) {
            refuse(key, step.text, "followed by a search key of letters, such as UNSEEN");
        }
        if (fields.size() > needed) {
            step.word = fields[needed];
        }
    } else if (form == Form::range) {
        step.last = fields[1] == "last";
        if (!step.last && fields[1] != "all") {
            step.count = number(key, fields[1], 1u, "`all`, `last` or a whole number of at least 1");
        }
    } else if (form == Form::count_bytes) {
        step.count = number(key, fields[1], 1u, "a whole number of at least 1");
    }
    if (sized && fields.size() > needed) {
        step.bytes = read_bytes(key, fields[needed]);
    }
}

/// Says of each block's two ends where the other is.
void pair_blocks(const std::string& script, std::vector<Step>& steps) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].kind == Step::Kind::end) {
            if (open.empty()) {
                throw Fatal("job: the script " + script + " has an `end` without a block");
            }
            steps[i].partner = open.back();
            steps[open.back()].partner = i;
            open.pop_back();
        } else if (steps[i].kind >= Step::Kind::repeat) {
            open.push_back(i);
        }
    }
    if (!open.empty()) {
        throw Fatal("job: `" + steps[open.back()].text + "` of the script " + script + " has no end");
    }
}

/// Whether each pass has a command; one that may have none could go on without ever waiting.
bool always_acts(const std::vector<Step>& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i].kind == Step::Kind::action) {
            return true;
        }
        if (steps[i].kind == Step::Kind::percent || steps[i].kind == Step::Kind::offline) {
            i = steps[i].partner;
        }
    }
    return false;
}

}  // namespace

std::span<const std::string_view> ScriptReader::keys() {
    static constexpr std::array<std::string_view, 7> kKeys = {"sizes",  "script", "rate_per_s", "think",
                                                              "ramp_s", "start",  "step"};
    return kKeys;
}

void ScriptReader::take(std::string_view key, std::string_view value) {
    if (key == "sizes") {
        return add_sizes(key, value);
    }
    if (key == "script") {
        return begin(key, value);
    }
    if (scripts.empty()) {
        throw Fatal("job: " + std::string(key) + " comes before the first script");
    }
    Script& script = scripts.back();
    if (key == "rate_per_s") {
        script.rate_per_s = number(key, value, 0.0, "a number of at least 0");
    } else if (key == "think") {
        script.think = read_wait(key, value, words(value));
    } else if (key == "ramp_s") {
        script.ramp_s = number(key, value, 0.0, "a number of at least 0");
    } else {
        (key == "start" ? script.start : script.steps).push_back(step(key, value));
    }
}

void ScriptReader::begin(std::string_view key, std::string_view value) {
    constexpr std::string_view kAllowed =
        "a name of its own, imap, pop3 or smtp, and a number of clients; ten scripts at most";
    const Words fields = words(value);
    if (fields.size() != 3 || scripts.size() == kMostScripts) {
        refuse(key, value, kAllowed);
    }
    for (const Script& other : scripts) {
        if (other.name == fields[0]) {
            refuse(key, value, kAllowed);
        }
    }
    Script& script = scripts.emplace_back();
    script.name = fields[0];
    script.speaks = static_cast<Script::Speaks>(choice(key, fields[1], {"imap", "pop3", "smtp"}, kAllowed));
    script.clients = number(key, fields[2], 1u, kAllowed);
}

void ScriptReader::add_sizes(std::string_view key, std::string_view value) {
    constexpr std::string_view kAllowed = "BYTES:PERCENT, several separated by blanks, each above 0 percent";
    for (const std::string_view field : words(value)) {
        const std::size_t colon = field.find(':');
        if (colon == std::string_view::npos) {
            refuse(key, value, kAllowed);
        }
        const auto percent = number(key, field.substr(colon + 1), 0.0, kAllowed);
        if (!(percent > 0)) {
            refuse(key, value, kAllowed);
        }
        sizes.add(read_bytes(key, field.substr(0, colon)), percent);
    }
}

Step ScriptReader::step(std::string_view key, std::string_view value) const {
    using Kind = Step::Kind;
    const Words fields = words(value);
    Step step;
    step.text = value;
    const std::string_view name = fields.empty() ? std::string_view() : fields[0];
    const auto alone = [&](std::size_t count) {
        if (fields.size() != count) {
            refuse(key, value, count == 1 ? "one word" : "followed by one number");
        }
    };
    const Script& script = scripts.back();
    if (name == "wait") {
        if (key == "start") {
            refuse(key, value, "a command: clients do not wait before the load begins");
        }
        step.kind = Kind::wait;
        step.wait = read_wait(key, value, Words(fields.begin() + 1, fields.end()));
    } else if (name == "repeat") {
        alone(2);
        step.kind = Kind::repeat;
        step.count = number(key, fields[1], 1u, "a whole number of at least 1");
    } else if (name == "percent") {
        alone(2);
        step.kind = Kind::percent;
        step.percent = number(key, fields[1], 0.0, "0 to 100");
        if (step.percent > 100) {
            refuse(key, value, "0 to 100");
        }
    } else if (name == "connection") {
        alone(2);
        step.kind = Kind::connection;
        step.count = number(key, fields[1], 1u, "1 to 4");
        if (step.count > kMostConnections || script.speaks != Script::Speaks::imap) {
            refuse(key, value, "1 to 4, in a script of imap");
        }
    } else if (name == "offline" || name == "end") {
        alone(1);
        step.kind = name == "end" ? Kind::end : Kind::offline;
        if (name == "offline" && script.speaks == Script::Speaks::smtp) {
            refuse(key, value, "in a script of imap or pop3: each `send` has a connection of its own");
        }
    } else {
        step.action = script.find(name);
        if (step.action == nullptr) {
            refuse(key, value, "one of " + script.known_actions());
        }
        read_arguments(step, key, fields);
    }
    return step;
}

void ScriptReader::finish(unsigned clients, unsigned users) {
    if (scripts.empty()) {
        throw Fatal("job: the key script is missing: protocol=scripts needs one at least");
    }
    unsigned sum = 0;
    for (Script& script : scripts) {
        sum += script.clients;
        pair_blocks(script.name, script.start);
        pair_blocks(script.name, script.steps);
        if (!always_acts(script.steps)) {
            throw Fatal("job: the script " + script.name +
                        " needs a command step outside of percent and offline blocks");
        }
        const auto draws_size = [](const Step& step) {
            return step.action != nullptr && step.action->form >= Action::Form::word_bytes && step.bytes == 0;
        };
        const auto fetches = [](const Step& step) {
            return step.action != nullptr && (step.action->name == "body" || step.action->name == "retr");
        };
        std::vector<Step> steps = script.start;
        steps.insert(steps.end(), script.steps.begin(), script.steps.end());
        for (const Step& step : steps) {
            if (sizes.empty() && (draws_size(step) || fetches(step))) {
                throw Fatal("job: the key sizes is missing: `" + step.text + "` of the script " +
                            script.name + " needs it");
            }
        }
        if (script.speaks == Script::Speaks::pop3 && clients > users) {
            throw Fatal("job: clients=" + std::to_string(clients) + " is not allowed: of " +
                        std::to_string(users) +
                        " users each has one, because a POP3 mailbox is for one session at a time");
        }
    }
    if (sum != clients) {
        throw Fatal("job: the scripts have " + std::to_string(sum) +
                    " clients together, clients=" + std::to_string(clients));
    }
}

}  // namespace s80::loadgen
