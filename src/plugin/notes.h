// SPDX-License-Identifier: GPL-2.0-or-later
// Notes for the attribution of misses: data about a recorded access that do not fit into its 8-byte event.
// Each processor has an object of class Notes.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "observe/attribution.h"
#include "plugin/vcpu.h"

namespace s80::plugin {

/// An instruction that accesses memory: its virtual address and the size of its accesses.
struct Site {
    std::uint64_t pc = 0;
    std::uint64_t bytes_less_one = 0;  ///< size of its largest access in bytes, minus one
};

class Notes {
public:
    explicit Notes(unsigned line_shift)
        : line_mask_((std::uint64_t{1} << line_shift) - 1),
          granule_shift_(std::bit_width(model::granule_bytes(line_mask_ + 1)) - 1) {}

    void set_who(std::uint32_t who) { who_ = who; }

    /// Begins the note of a load or store that lies in one line. A put function then attaches it to an event.
    void access(const Site& site, std::uint64_t address, std::uint64_t bytes, model::Kind kind) {
        next_.pc = site.pc;
        next_.address = address;
        next_.size = static_cast<std::uint8_t>(bytes);
        next_.used = granules(address, bytes);
        next_.stores = kind == model::Kind::store;
    }
    /// Begins the note of a fetch. `pc`: virtual address of the block. `physical`: address of the first byte
    /// of the fetched line, which has code of this block.
    void fetch(std::uint64_t pc, std::uint64_t physical) {
        const std::uint64_t inside = physical & kPageMask;
        const bool next_page = inside < (pc & kPageMask & ~line_mask_);
        next_.pc = pc;
        next_.address = (pc & ~kPageMask) + (next_page ? kPageMask + 1 : 0) + inside;
        next_.size = 0;
        next_.used = 0xffff;
        next_.stores = false;
    }
    /// Attaches the note that was begun last to the last event of the processor's stream.
    void put(Vcpu& vcpu) { write(note_at(vcpu, place(vcpu)), next_.used, next_.stores); }
    /// Attaches a copy of this note to the last event, which is a load of a page-table entry. `physical`:
    /// address of the entry.
    void put_walk(Vcpu& vcpu, std::uint64_t physical) {
        write(note_at(vcpu, place(vcpu)), granules(physical, sizeof(std::uint64_t)), false);
    }
    /// Like `put` above. Also remembers the event under `entry`, the index of its line in the filter, for
    /// again().
    void put(Vcpu& vcpu, std::size_t entry, std::uint64_t epoch) {
        put(vcpu);
        recorded_[entry] = {epoch, next_.address & ~line_mask_, place(vcpu)};
    }
    /// Merges an access that is not recorded into the note of the event that put() remembered under this
    /// index.
    void again(const Vcpu& vcpu, std::size_t entry, std::uint64_t epoch, std::uint64_t address,
               std::uint64_t bytes, model::Kind kind) const {
        const Recorded& recorded = recorded_[entry];
        if (recorded.epoch == epoch && recorded.line == (address & ~line_mask_)) {
            model::Note& note = vcpu.stream.stream->notes[recorded.place];
            (kind == model::Kind::store ? note.writes : note.reads) |= granules(address, bytes);
        }
    }

private:
    struct Recorded {
        std::uint64_t epoch = 0;
        std::uint64_t line = 0;  ///< virtual address of the line's first byte
        std::size_t place = 0;
    };
    /// The parts of the line (granules, at most 16) that an access to these bytes touches, one bit each.
    /// Bytes after the line's end are left out.
    std::uint16_t granules(std::uint64_t address, std::uint64_t bytes) const {
        constexpr std::uint64_t kLast = 15;
        const std::uint64_t inside = address & line_mask_;
        const std::uint64_t end = inside + bytes - 1 > line_mask_ ? line_mask_ : inside + bytes - 1;
        const std::uint64_t first = std::min(inside >> granule_shift_, kLast);
        const std::uint64_t last = std::min(end >> granule_shift_, kLast);
        return static_cast<std::uint16_t>((2U << last) - (1U << first));
    }
    void write(model::Note& note, std::uint16_t used, bool stores) const {
        note.pc = next_.pc;
        note.address = next_.address;
        note.who = who_;
        note.reads = stores ? 0 : used;
        note.writes = stores ? used : 0;
        note.size = next_.size;
    }
    static std::size_t place(const Vcpu& vcpu) { return vcpu.stream.position() - 1; }
    static model::Note& note_at(Vcpu& vcpu, std::size_t place) {
        model::Stream& stream = *vcpu.stream.stream;
        if (stream.notes.size() <= place) {
            stream.notes.resize(stream.events.size());
        }
        return stream.notes[place];
    }

    std::uint64_t line_mask_;
    int granule_shift_;  ///< the size of a granule is 2^granule_shift_ bytes
    /// The note that was begun last. It is not a model::Note: a copy of a whole structure reads several
    /// members at once, and the host stalls if they were written one by one just before. So members that are
    /// neighbours in model::Note are not neighbours here, and are copied one by one.
    struct Next {
        std::uint64_t pc = 0;
        std::uint16_t used = 0;
        bool stores = false;
        std::uint8_t size = 0;
        std::uint64_t address = 0;
    };
    Next next_;
    std::uint32_t who_ = 0;
    std::array<Recorded, kFilterEntries> recorded_{};
};

}  // namespace s80::plugin
