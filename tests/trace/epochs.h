// SPDX-License-Identifier: GPL-2.0-or-later
// Random epochs that a merger can play, from a seed.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "stream/epoch.h"

namespace s80::test {

struct Shape {
    unsigned processors = 3;
    std::uint32_t lines = 64;
    unsigned epochs = 6;
    unsigned events = 40;     ///< of a stream, at most
    bool long_deltas = true;  ///< now and then one of up to model::kLongestDelta instructions
    // Both only from lower processors to higher ones, so none waits forever:
    bool interrupts = true;  ///< signals and waits
    bool edges = true;       ///< ordering edges and awaited events
    bool placed = false;
    unsigned ways = 2;  ///< of placed events
};

class RandomEpochs {
public:
    RandomEpochs(std::uint32_t seed, Shape shape) : random_(seed), shape_(shape) {}

    std::vector<model::Epoch> all() {
        std::vector<model::Epoch> epochs;
        for (unsigned w = 0; w < shape_.epochs; ++w) {
            epochs.push_back(next(w + 1 == shape_.epochs));
        }
        return epochs;
    }

private:
    std::uint32_t below(std::uint32_t n) {
        return std::uniform_int_distribution<std::uint32_t>(0, n - 1)(random_);
    }
    bool one_in(std::uint32_t n) { return below(n) == 0; }

    model::Epoch next(bool last) {
        model::Epoch epoch(shape_.processors);
        epoch.placed = shape_.placed;
        epoch.idle_before_ns = one_in(3) ? below(1'000'000) : 0;
        epoch.mark = last ? model::Mark::measure_end : static_cast<model::Mark>(below(4));
        index_ += epoch.mark == model::Mark::none ? 0 : 1;
        epoch.index = index_;
        if (epoch.mark != model::Mark::none) {
            for (auto& outcomes : epoch.transactions) {
                outcomes = {below(1000), below(10)};
            }
            epoch.slices.add(std::uint64_t{1000} * index_);
        }
        awaited_.assign(shape_.processors, 0);
        for (unsigned p = 0; p < shape_.processors; ++p) {
            fill(epoch, p);
        }
        epoch.instructions = instructions_;
        return epoch;
    }

    void fill(model::Epoch& epoch, unsigned processor) {
        model::Stream& stream = epoch.streams[processor];
        stream.runs_on = !one_in(3);
        stream.ran = !one_in(4);
        if (!stream.ran) {
            return;
        }
        const std::uint32_t heard = epoch.signals;
        std::uint64_t instructions = 0;
        for (unsigned n = below(shape_.events + 1); n != 0; --n) {
            model::Event event;
            event.op = static_cast<model::Op>(below(5));
            event.context.value = static_cast<std::uint8_t>(below(model::kContexts));
            event.delta = static_cast<std::uint16_t>(
                shape_.long_deltas && one_in(8) ? below(model::kLongestDelta + 1) : below(300));
            if (event.op <= model::Op::walk) {
                event.line = one_in(2) ? below(shape_.lines) : below(4);
                event.way = static_cast<std::uint8_t>(shape_.placed ? below(shape_.ways) : 0);
                stream.use(event.context);
                ++stream.accesses[event.context.value][static_cast<unsigned>(event.op)];
            } else if (shape_.interrupts && one_in(2)) {
                event.op = model::Op::signal;
                event.line = epoch.signals++;
            } else if (shape_.interrupts && heard != 0) {
                event.op = model::Op::wait;
                event.line = below(heard);
            } else if (const unsigned earlier = below(processor + 1);
                       shape_.edges && earlier != processor && awaited_[earlier] != 0) {
                event.op = model::Op::after;
                event.line = model::Edge{earlier, below(awaited_[earlier])}.word();
            }
            if (shape_.edges && event.op <= model::Op::pass && one_in(4)) {
                event.awaited = 1;
                ++awaited_[processor];
            }
            instructions += event.delta;
            stream.events.push_back(event);
        }
        stream.size = stream.events.size();
        stream.tail = below(2000);
        instructions += stream.tail;
        stream.use(model::Context{});
        stream.instructions[0] = instructions;
        stream.classes[0][model::kInstructionClasses - 1] = instructions;
        instructions_ += instructions;
    }

    std::mt19937 random_;
    Shape shape_;
    std::uint64_t instructions_ = 1000;  // of a run that began earlier
    std::uint64_t index_ = 0;
    std::vector<std::uint32_t> awaited_;  ///< of this epoch, by processor
};

}  // namespace s80::test
