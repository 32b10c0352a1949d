// SPDX-License-Identifier: GPL-2.0-or-later
// A script: a list of steps that a client performs repeatedly (docs/guides/client-scripts.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mix.h"
#include "random.h"
#include "task.h"

namespace s80::loadgen {

class ScriptClient;
struct Step;

/// A time: constant, uniform or exponential.
struct Wait {
    enum class Form { constant, uniform, exponential } form = Form::constant;
    double ms = 0;  // the constant, the least, the mean
    double most_ms = 0;

    double draw_ns(Random& random) const;
};

/// A command of a protocol that may be a step of a script.
struct Action {
    /// The arguments after its name. key_word: a key of SEARCH, and a word if the key needs one. range:
    /// `all`, `last` or a number of messages. bytes: the size of a message; if it is missing, the size is
    /// drawn.
    enum class Form { none, word, key_word, range, word_bytes, count_bytes };

    std::string_view name;
    Form form;
    Task (*run)(ScriptClient& client, const Step& step);
};

/// The actions of each protocol. Every script also has `send`, an action of SMTP.
extern const std::span<const Action> imap_actions, pop3_actions, smtp_actions;

struct Step {
    enum class Kind { action, wait, connection, repeat, percent, offline, end };

    std::string text;  // as the job has it
    Kind kind = Kind::action;
    const Action* action = nullptr;
    std::string key;  // of a search
    std::string word;
    unsigned count = 0;  // of messages, 0: all; of recipients, repetitions; the connection's number
    bool last = false;   // the range is the last message alone
    std::size_t bytes = 0;
    double percent = 0;
    Wait wait;
    std::size_t partner = 0;  // of a block's first step its end, and the other way round
};

struct Script {
    enum class Speaks { imap, pop3, smtp };

    std::string name;
    Speaks speaks = Speaks::imap;
    unsigned clients = 1;
    double rate_per_s = 0;  // of passes, all its clients together; 0: each client thinks between two
    Wait think;
    double ramp_s = 0;  // over which its clients, or its rate, come to be
    std::vector<Step> start;
    std::vector<Step> steps;

    bool open() const { return rate_per_s > 0; }
    /// An action of its protocol, or the common one.
    const Action* find(std::string_view name) const;
    std::string known_actions() const;
};

/// Sizes of messages, with their shares.
class SizeTable {
public:
    void add(std::size_t bytes, double percent);

    bool empty() const { return bytes_.empty(); }
    std::size_t draw(Random& random) const { return bytes_[distribution_.draw(random.uniform())]; }
    /// The table's size whose ratio to this size is nearest to 1.
    std::size_t nearest(std::size_t bytes) const;

private:
    std::vector<std::size_t> bytes_;
    Weights shares_;
    Distribution distribution_;
};

}  // namespace s80::loadgen
