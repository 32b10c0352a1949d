// SPDX-License-Identifier: GPL-2.0-or-later
// vCPU binding, and which blocks begin a time slice.
#include "plugin/vcpus.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <vector>

#include "plugin/registers.h"

namespace s80::plugin {

namespace {

/// What the running vCPU has in its registers.
std::map<Register, std::uint64_t> registers;

constexpr std::uint64_t kArea = 0xffff'8880'0000'0000;  ///< of processor 0; the others follow

}  // namespace

std::uint64_t read_register(Register which) {
    return registers[which];
}

/// Three vCPUs of a guest. Their blocks begin as in the callback of blocks (translate.cpp).
class VcpusTest : public testing::Test {
protected:
    void SetUp() override { Vcpus::leave(); }

    void* vcpu(unsigned number) { return &states_.at(number); }
    /// The vCPU is in the kernel, where GS has the processor's per-CPU area.
    void in_kernel(unsigned processor) {
        registers[Register::gs_base] = kArea + processor;
        registers[Register::k_gs_base] = 0;
    }
    void bind(unsigned number) {
        in_kernel(number);
        block(number);
        vcpus_.bind(vcpu(number), number);
        Vcpus::leave();
    }
    void bind_all() {
        for (unsigned number = 0; number < states_.size(); ++number) {
            bind(number);
        }
    }
    /// QEMU executes a block of the vCPU. Returns whether it is recorded.
    bool block(unsigned number) {
        if (vcpu(number) == running_state) {
            return true;
        }
        return vcpus_.enter(vcpu(number), [this](const Vcpu& vcpu) {
            began_.push_back(vcpu.processor);
            return vcpu.processor != skipped_;
        });
    }
    using Slices = std::vector<unsigned>;

    std::array<int, 3> states_{};
    Vcpus vcpus_{3};
    unsigned skipped_ = 3;  ///< the processor that has used up its share; 3: none
    Slices began_;          ///< processors that asked for a time slice
};

TEST_F(VcpusTest, AVcpuIsUnboundUntilItsMarker) {
    in_kernel(0);
    EXPECT_TRUE(block(0));
    EXPECT_FALSE(running_vcpu->bound());
    EXPECT_EQ(began_, Slices{}) << "nothing is recorded";
    EXPECT_FALSE(vcpus_.bind(vcpu(0), 0));
    EXPECT_TRUE(running_vcpu->bound());
    bind(1);
    in_kernel(2);
    EXPECT_TRUE(vcpus_.bind(vcpu(2), 2)) << "the last one";
    EXPECT_TRUE(vcpus_.all_seen());
}

TEST_F(VcpusTest, ATimeSliceBeginsWhereAnotherVcpuRuns) {
    bind_all();
    for (const unsigned number : {0U, 0U, 1U, 1U, 0U}) {
        EXPECT_TRUE(block(number));
    }
    EXPECT_EQ(began_, (Slices{0, 1, 0}));
    EXPECT_EQ(running_vcpu->processor, 0U);
}

/// QEMU itself ends a time slice of processor 0, and skips processor 1: processor 0 goes on with a time slice
/// of its own. Otherwise its time and the guest's clock would be those of the slice that ended.
TEST_F(VcpusTest, AProcessorBeginsATimeSliceIfOnlySkippedOnesFollowedItsLast) {
    bind_all();
    skipped_ = 1;
    EXPECT_TRUE(block(0));
    EXPECT_FALSE(block(1));
    EXPECT_TRUE(block(0));
    EXPECT_EQ(began_, (Slices{0, 1, 0}));
}

TEST_F(VcpusTest, ATimeSliceBeginsAfterOneThatThePluginEnded) {
    bind_all();
    EXPECT_TRUE(block(2));
    Vcpus::leave();
    EXPECT_TRUE(block(2));
    EXPECT_EQ(began_, (Slices{2, 2}));
}

TEST_F(VcpusTest, AVcpuOfARestoredGuestIsKnownByItsArea) {
    vcpus_.restore(kArea + 2, 2);
    registers[Register::gs_base] = 0x7f00'0000'0000;  // in user code, the kernel's is beside it
    registers[Register::k_gs_base] = kArea + 2;
    EXPECT_TRUE(block(1));
    EXPECT_EQ(running_vcpu->processor, 2U);
    EXPECT_EQ(vcpus_.area(2), kArea + 2);
    EXPECT_EQ(vcpus_.seen(), 1U);
}

TEST_F(VcpusTest, AProcessorThatTheMachineLacksIsAnError) {
    in_kernel(0);
    EXPECT_THROW(vcpus_.bind(vcpu(0), 3), model::Error);
    vcpus_.bind(vcpu(0), 0);
    EXPECT_THROW(vcpus_.bind(vcpu(1), 1), model::Error) << "two processors share an area";
}

}  // namespace s80::plugin
