// SPDX-License-Identifier: GPL-2.0-or-later
// Access to QEMU's virtual time, which is the guest's only clock.
#pragma once
#include <cstdint>

namespace s80::plugin {

class VirtualTime {
public:
    virtual ~VirtualTime() = default;

    // --- may be called before the first instruction of a time slice ---
    /// The present virtual time, ns.
    virtual std::int64_t now() const = 0;
    /// Sets virtual time for the time slice that begins.
    virtual void begin_slice(std::int64_t ns) = 0;
    // --- may be called within a time slice ---
    /// Moves virtual time forward by this number of nanoseconds.
    virtual void advance(std::int64_t ns) = 0;
    // --- may be called after the last instruction of a time slice ---
    /// Virtual time at which the guest's next timer is due, ns; a very late time if there is none.
    virtual std::int64_t next_timer() const = 0;
    /// Sets virtual time. `instructions`: executed in the time slice that ends.
    virtual void end_slice(std::int64_t ns, std::uint64_t instructions) = 0;
};

/// Virtual time of a QEMU with -icount: (count << shift) + bias, in nanoseconds. `count` is the number of
/// instructions of all processors; QEMU increases `bias` while all processors sleep. Both are fields of
/// QEMU's exported variable `timers_state`. QEMU updates the count only between two time slices, so this
/// class uses the count at the beginning of the time slice.
class QemuTime final : public VirtualTime {
public:
    /// Throws Error if this QEMU does not export the needed symbols.
    QemuTime();
    /// Verifies that the fields are where this class expects them, by comparison with QEMU's own clock
    /// function. Call it while QEMU translates a block, because QEMU can then read its clock. Throws Error if
    /// this QEMU is not known.
    void verify();

    std::int64_t now() const override;
    void begin_slice(std::int64_t ns) override;
    void advance(std::int64_t ns) override;
    std::int64_t next_timer() const override;
    void end_slice(std::int64_t ns, std::uint64_t instructions) override;

private:
    std::int64_t (*get_)();
    std::int64_t (*deadline_)(int clock, int attributes);
    void** current_;  ///< address of QEMU's thread-local pointer to the running processor
    volatile std::int64_t* bias_ = nullptr;
    volatile std::int64_t* count_ = nullptr;
    const volatile std::int16_t* shift_at_ = nullptr;
    int shift_ = 0;
    std::int64_t begin_ = 0;  ///< `count` at the beginning of the time slice
};

}  // namespace s80::plugin
