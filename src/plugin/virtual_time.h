// SPDX-License-Identifier: GPL-2.0-or-later
// QEMU's virtual time, which the guest sees, and access to it while processors run.
#pragma once
#include <cstdint>

namespace s80::plugin {

class VirtualTime {
public:
    virtual ~VirtualTime() = default;

    // --- before the first instruction of a time slice ---
    /// Virtual time now, in nanoseconds.
    virtual std::int64_t now() const = 0;
    virtual void begin_slice(std::int64_t ns) = 0;
    // --- within a time slice ---
    /// Moves virtual time on by so many nanoseconds.
    virtual void advance(std::int64_t ns) = 0;
    // --- after its last instruction ---
    /// When the guest's next timer is due; a very late time if it has none.
    virtual std::int64_t next_timer() const = 0;
    /// Sets virtual time. `instructions`: executed in the time slice.
    virtual void end_slice(std::int64_t ns, std::uint64_t instructions) = 0;
};

/// Under -icount virtual time is (count << shift) + bias: the count of instructions of all processors, and a
/// bias that QEMU itself moves while all processors sleep. QEMU's exported `timers_state` has these fields.
/// QEMU updates the count only between two time slices. So all functions use the count at the beginning of
/// the time slice.
class QemuTime final : public VirtualTime {
public:
    /// Throws Error if this QEMU does not export the needed symbols.
    QemuTime();
    /// Verifies that the fields are where this class expects them: compares them with QEMU's own clock
    /// function. Call verify() while QEMU translates a block, because QEMU can then read its clock. Throws
    /// Error if this QEMU is not known.
    void verify();

    std::int64_t now() const override;
    void begin_slice(std::int64_t ns) override;
    void advance(std::int64_t ns) override;
    std::int64_t next_timer() const override;
    void end_slice(std::int64_t ns, std::uint64_t instructions) override;

private:
    std::int64_t (*get_)();
    std::int64_t (*deadline_)(int clock, int attributes);
    void** current_;  ///< QEMU's thread-local pointer to the running processor
    volatile std::int64_t* bias_ = nullptr;
    volatile std::int64_t* count_ = nullptr;
    const volatile std::int16_t* shift_at_ = nullptr;
    int shift_ = 0;
    std::int64_t begin_ = 0;  ///< the count at the beginning of the time slice
};

}  // namespace s80::plugin
