// SPDX-License-Identifier: GPL-2.0-or-later
#include "scripts/script_client.h"

#include <algorithm>
#include <utility>

namespace s80::loadgen {

namespace {

/// Makes room for a new session where another was, which it counts.
template <typename Session>
Session& renew(ScriptClient& client, std::unique_ptr<Session>& place) {
    if (place) {
        client.done_with(*place);
    }
    place = std::make_unique<Session>(client.world.network);
    return *place;
}

template <typename Session>
Session& opened(const std::unique_ptr<Session>& place) {
    if (!place) {
        throw Failure(ErrorKind::protocol, "the script has no `connect` before this step");
    }
    return *place;
}

}  // namespace

ScriptClient::ScriptClient(World& the_world, unsigned the_index)
    : MailClient(the_world, the_index), place_(the_index) {
    while (place_ >= script().clients) {
        place_ -= world.job.scripts[number_++].clients;
    }
}

ImapSession& ScriptClient::imap() {
    return opened(imap_[connection_]);
}

Pop3Session& ScriptClient::pop3() {
    return opened(pop3_);
}

ImapSession& ScriptClient::new_imap() {
    return renew(*this, imap_[connection_]);
}

Pop3Session& ScriptClient::new_pop3() {
    retrieved = removable = 0;
    return renew(*this, pop3_);
}

void ScriptClient::leave() {
    if (script().speaks == Script::Speaks::imap) {
        done_with(imap());
        imap_[connection_].reset();
    } else {
        done_with(pop3());
        pop3_.reset();
    }
}

bool ScriptClient::offline() const {
    return script().speaks == Script::Speaks::imap ? !imap_[connection_] : !pop3_;
}

Traffic ScriptClient::lasting() const {
    Traffic traffic;
    for (const auto& session : imap_) {
        if (session) {
            traffic += session->traffic();
        }
    }
    if (pop3_) {
        traffic += pop3_->traffic();
    }
    return traffic;
}

Task ScriptClient::timed(std::string_view protocol, std::string name, Task command) {
    const std::uint64_t begin_ns = world.clock.now();
    co_await command;
    answered(protocol, std::move(name), begin_ns);
}

void ScriptClient::answered(std::string_view protocol, std::string name, std::uint64_t begin_ns,
                            std::size_t bytes) {
    world.statistics.answered({protocol, std::move(name), bytes}, world.clock.now() - begin_ns);
}

std::string ScriptClient::compose(const Step& step, const std::string& to) {
    const std::size_t bytes = step.bytes != 0 ? step.bytes : world.job.sizes.draw(random);
    std::string message = world.text.compose(random, Accounts::address(account), to, bytes);
    message.insert(message.size() - 2, bytes - message.size(), 'x');  // its lines end somewhere before
    return message;
}

void ScriptClient::take(const std::vector<Step>& steps, std::size_t& at) {
    const Step& step = steps[at];
    left_.resize(std::max(left_.size(), steps.size()));
    bool skip = false;
    switch (step.kind) {
        case Step::Kind::connection: connection_ = step.count - 1; break;
        case Step::Kind::repeat: left_[at] = step.count; break;
        case Step::Kind::percent: skip = !(100 * random.uniform() < step.percent); break;
        case Step::Kind::offline: skip = !offline(); break;
        case Step::Kind::end:
            if (steps[step.partner].kind == Step::Kind::repeat && --left_[step.partner] > 0) {
                at = step.partner;
            }
            break;
        case Step::Kind::action:
        case Step::Kind::wait: break;
    }
    if (skip) {
        at = step.partner;
    }
    ++at;
}

Task ScriptClient::log_in() {
    const std::vector<Step>& start = script().start;
    for (std::size_t at = 0; at < start.size();) {
        const Step& step = start[at];
        if (step.kind == Step::Kind::action) {
            co_await step.action->run(*this, step);
        }
        take(start, at);
    }
    connection_ = 0;
}

double ScriptClient::first_think_ns() {
    const Script& mine = script();
    if (mine.open()) {
        return 0;
    }
    const double ramp_ns = mine.ramp_s * static_cast<double>(kNsPerS) * place_ / mine.clients;
    const double think_ns = mine.think.draw_ns(decisions_);
    // Exponential think times forget how long they have lasted.
    return ramp_ns +
           (mine.think.form == Wait::Form::exponential ? think_ns : decisions_.uniform() * think_ns);
}

Task ScriptClient::set_out() {
    if (script().open()) {
        world.arrivals[number_]->await(think_);
        co_await think_;
    }
    const std::vector<Step>& steps = script().steps;
    if (steps[at_].kind != Step::Kind::action) {
        co_await rest();
    }
}

Task ScriptClient::run(TransactionType) {
    const std::vector<Step>& steps = script().steps;
    while (at_ < steps.size() && steps[at_].kind != Step::Kind::wait) {
        const Step& step = steps[at_];
        if (step.kind == Step::Kind::action) {
            co_await step.action->run(*this, step);
        }
        take(steps, at_);
    }
}

// Up to the next action, over waits, the ends of blocks, and the end of the pass.
Task ScriptClient::rest() {
    const Script& mine = script();
    for (;;) {
        if (at_ == mine.steps.size()) {
            at_ = 0;
            connection_ = 0;
            if (mine.open()) {
                world.arrivals[number_]->await(think_);
            } else {
                // Of one nanosecond at least: a pass that finds nothing to do must not begin again in this
                // turn.
                sleep_until(world.clock.now() + 1 +
                            static_cast<std::uint64_t>(mine.think.draw_ns(decisions_)));
            }
            co_await think_;
            continue;
        }
        const Step& step = mine.steps[at_];
        if (step.kind == Step::Kind::action) {
            co_return;
        }
        if (step.kind == Step::Kind::wait) {
            sleep_until(world.clock.now() + static_cast<std::uint64_t>(step.wait.draw_ns(decisions_)));
            co_await think_;
        }
        take(mine.steps, at_);
    }
}

void ScriptClient::settle(bool failed) {
    if (failed) {
        at_ = script().steps.size();  // the pass is over; the next begins anew
    }
}

}  // namespace s80::loadgen
