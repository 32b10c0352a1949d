// SPDX-License-Identifier: GPL-2.0-or-later
// Epochs as a guest makes them, drawn from a fixed generator: private data, shared data and code, long
// streams beside short ones, sleeps and the interrupts that end them.
#pragma once
#include <algorithm>
#include <cstdint>

#include "stream/epoch.h"

namespace s80::model::test {

/// The same numbers on every host and library.
class Draw {
public:
    explicit Draw(std::uint64_t seed) : state_(seed) {}
    std::uint64_t bits() {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
        z = (z ^ z >> 27) * 0x94d049bb133111ebU;
        return z ^ z >> 31;
    }
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>((bits() >> 32) * n >> 32); }
    bool percent(unsigned p) { return below(100) < p; }

private:
    std::uint64_t state_;
};

inline constexpr Line kRandomLines = 1U << 14;

class RandomEpochs {
public:
    RandomEpochs(unsigned processors, std::uint64_t seed) : processors_(processors), draw_(seed) {}

    /// About `events` events a processor.
    Epoch next(unsigned events) {
        Epoch epoch(processors_);
        if (draw_.percent(5)) {
            epoch.idle_before_ns = 1000;
        }
        for (unsigned p = 0; p < processors_; ++p) {
            Stream& stream = epoch.streams[p];
            stream.runs_on = draw_.percent(80);
            stream.ran = draw_.percent(90);
            if (stream.ran) {
                fill(stream, p, 1 + draw_.below(2 * events));
            }
        }
        if (epoch.streams[0].ran && epoch.streams[processors_ - 1].ran && draw_.percent(50)) {
            wake(epoch);
        }
        epoch.mark = Mark::interval;
        return epoch;
    }

private:
    void fill(Stream& stream, unsigned p, unsigned events) {
        for (unsigned i = 0; i < events; ++i) {
            const Context context(static_cast<Privilege>(draw_.below(kPrivileges)),
                                  static_cast<ProcessClass>(draw_.below(kProcessClasses)));
            const bool pass = draw_.percent(2);
            const Op op = pass ? Op::pass : static_cast<Op>(draw_.below(4));
            const auto delta = static_cast<std::uint16_t>(draw_.below(draw_.percent(5) ? 2000 : 6));
            stream.events.push_back(Event{pass ? 0 : line(p, op), delta, 0, op, 0, context});
        }
        stream.size = stream.events.size();
        stream.tail = draw_.below(100);
        stream.use(Context{});
        stream.instructions[0] = stream.tail;
    }
    Line line(unsigned p, Op op) {
        const auto near = [&](Line n) { return std::min(draw_.below(n), draw_.below(n)); };
        if (op == Op::ifetch && draw_.percent(90)) {
            return near(600);
        }
        return draw_.percent(70) ? 1024 + p * 256 + near(256) : 8192 + near(4096);
    }
    /// The last processor sleeps until the first one has got half way.
    void wake(Epoch& epoch) {
        epoch.signals = 1;
        auto& sender = epoch.streams.front();
        auto& sleeper = epoch.streams.back();
        sender.events.insert(sender.events.begin() + static_cast<std::ptrdiff_t>(sender.size / 2),
                             Event{0, 1, 0, Op::signal, 0, {}});
        sleeper.events.insert(sleeper.events.begin(), Event{0, 1, 0, Op::wait, 0, {}});
        ++sender.size;
        ++sleeper.size;
    }

    unsigned processors_;
    Draw draw_;
};

}  // namespace s80::model::test
