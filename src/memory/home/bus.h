// SPDX-License-Identifier: GPL-2.0-or-later
// The home of a machine with a snooping bus, and memory behind it. For each line, it remembers one bit: that
// caches may have copies (`Protocol::leaves_shared`). A protocol whose [home] must remember more needs
// another home.
#pragma once
#include "memory/home/home.h"
#include "memory/home/interconnect.h"

namespace s80::model {

class BusHome : public Home {
public:
    static constexpr const char* kName = "bus";
    static constexpr std::span<const Key> kKeys{};

    /// Throws Error if the protocol needs more than a bus, or the machine has too many cores for the flag.
    explicit BusHome(const HomeParts& parts);

    Reply request(const Access& access, Bus bus, Outcome& outcome) override;
    void evicted(unsigned core, Line line, Block block) override;
    void device_read(Line line) override;
    void device_write(Line line) override;
    void epoch_ended(std::int64_t next) override;

    std::vector<Line> remembered() const override;
    void remember(Line line) override;
    /// The busy times of bus and memory.
    std::vector<std::uint64_t> state() const override { return interconnect_.state(); }
    bool set_state(std::span<const std::uint64_t> words) override { return interconnect_.set_state(words); }

private:
    void take_note_of_time();

    bool remembers_;  ///< whether the bits are used (Protocol::leaves_shared)
    Interconnect interconnect_;
};

}  // namespace s80::model
