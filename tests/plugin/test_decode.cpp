// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/decode.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace s80::plugin {

namespace {

using model::InstructionClass;

Decoded of(std::vector<std::uint8_t> bytes) {
    return decode(bytes.data(), bytes.size());
}

struct Case {
    const char* text;
    std::vector<std::uint8_t> bytes;
    InstructionClass kind;
};

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> found;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, ',');) {
        found.push_back(part);
    }
    return found;
}

std::vector<std::uint8_t> from_hex(const std::string& text) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

/// One instruction of accesses.txt.
struct Recorded {
    std::string hex;
    std::string access;
    unsigned bytes = 0;
};

/// test_accesses.py explains the file.
std::vector<Recorded> recorded() {
    std::vector<Recorded> found;
    std::ifstream in(S80_ACCESSES);
    for (std::string line; std::getline(in, line);) {
        std::string before;
        std::string opcodes;
        std::string behind;
        Recorded one;
        if (line.starts_with("#") ||
            !(std::istringstream(line) >> before >> opcodes >> behind >> one.access >> one.bytes)) {
            continue;
        }
        for (const auto& [name, operands] : {std::pair{"MEMORY", "07,0f,17,1f,27,2f,37,3f"},
                                             std::pair{"REGISTER", "c7,cf,d7,df,e7,ef,f7,ff"}}) {
            if (const auto at = behind.find(name); at != std::string::npos) {
                behind.replace(at, std::string(name).size(), operands);
            }
        }
        for (const std::string& first : split(before)) {
            for (const std::string& opcode : split(opcodes)) {
                for (const std::string& last : split(behind)) {
                    found.push_back(one);
                    found.back().hex = (first == "-" ? "" : first) + opcode + last;
                }
            }
        }
    }
    return found;
}

}  // namespace

TEST(Decode, AccessesAreThoseThatQemuReports) {
    constexpr std::size_t kLongest = 15;
    const std::vector<Recorded> instructions = recorded();
    ASSERT_GT(instructions.size(), 50'000U);
    for (const Recorded& one : instructions) {
        std::vector<std::uint8_t> bytes = from_hex(one.hex);
        bytes.resize(kLongest);  // the rest of the operands
        const Decoded d = of(bytes);
        EXPECT_EQ(model::label(d.kind), one.access) << one.hex;
        EXPECT_TRUE(d.access_bytes >= one.bytes || one.access == "other") << one.hex;
        EXPECT_TRUE(d.touches_memory || one.access == "other") << one.hex;
    }
}

TEST(Decode, PrefixesLeaveTheAccess) {
    using enum InstructionClass;
    EXPECT_EQ(of({0x65, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}).kind, load);  // mov %gs:0,%rax
    EXPECT_EQ(of({0x67, 0x66, 0x89, 0x07}).kind, store);                   // mov %ax,(%edi)
    EXPECT_EQ(of({0x2e, 0x66, 0x0f, 0x1f, 0x04, 0x00}).kind, other);       // cs nopw (%rax,%rax)
    EXPECT_EQ(of({0x66, 0xf3, 0x44, 0x0f, 0x7e, 0x07}).kind, load);        // movq (%rdi),%xmm8
    EXPECT_EQ(of({0x48, 0x66, 0x0f, 0xc7, 0x0f}).access_bytes, 8U);        // a REX that does not count
}

TEST(Decode, ClassesOfInstructions) {
    using enum InstructionClass;
    const std::vector<Case> cases{
        {"mov (%rdi),%rax", {0x48, 0x8b, 0x07}, load},
        {"mov %rax,(%rdi)", {0x48, 0x89, 0x07}, store},
        {"add %rax,(%rdi)", {0x48, 0x01, 0x07}, load_store},
        {"cmp %rax,(%rdi)", {0x48, 0x39, 0x07}, load},
        {"rep movsq", {0xf3, 0x48, 0xa5}, load_store},
        {"rep stosq", {0xf3, 0x48, 0xab}, store},
        {"lock cmpxchg %rcx,(%rdi)", {0xf0, 0x48, 0x0f, 0xb1, 0x0f}, load_store},
        {"xchg %rax,(%rdi)", {0x48, 0x87, 0x07}, load_store},
        {"xchg %rax,%rbx", {0x48, 0x93}, other},
        {"lock xadd %rax,(%rdi)", {0xf0, 0x48, 0x0f, 0xc1, 0x07}, load_store},
        {"lock cmpxchg16b (%rdi)", {0xf0, 0x48, 0x0f, 0xc7, 0x0f}, load_store},
        {"push %rbx", {0x53}, store},
        {"pop %rbx", {0x5b}, load},
        {"lea 8(%rdi),%rax", {0x48, 0x8d, 0x47, 0x08}, other},
        {"add %rax,%rbx", {0x48, 0x01, 0xc3}, other},
        {"je .", {0x74, 0xfe}, branch_conditional},
        {"jmp .", {0xeb, 0xfe}, branch_unconditional},
        {"jmp *%rax", {0xff, 0xe0}, branch_unconditional},
        {"call .", {0xe8, 0xfb, 0xff, 0xff, 0xff}, branch_unconditional},
        {"ret", {0xc3}, branch_unconditional},
        {"movups (%rsi),%xmm0", {0x0f, 0x10, 0x06}, load},
        {"movaps %xmm0,(%rdi)", {0x0f, 0x29, 0x07}, store},
        {"movups %xmm0,(%rdi)", {0x0f, 0x11, 0x07}, store},
        {"movdqu %xmm0,(%rdi)", {0xf3, 0x0f, 0x7f, 0x07}, store},
        {"movdqa %xmm0,(%rdi)", {0x66, 0x0f, 0x7f, 0x07}, store},
        {"movdqu (%rdi),%xmm0", {0xf3, 0x0f, 0x6f, 0x07}, load},
        {"movq %xmm0,(%rdi)", {0x66, 0x0f, 0xd6, 0x07}, store},
        {"movq (%rdi),%xmm0", {0xf3, 0x0f, 0x7e, 0x07}, load},
        {"movss %xmm0,(%rdi)", {0xf3, 0x0f, 0x11, 0x07}, store},
        {"movnti %rax,(%rdi)", {0x48, 0x0f, 0xc3, 0x07}, store},
        {"pextrq $0,%xmm0,(%rdi)", {0x66, 0x48, 0x0f, 0x3a, 0x16, 0x07, 0x00}, store},
        {"loop .", {0xe2, 0xfe}, branch_conditional},
        {"jmp *(%rax)", {0xff, 0x20}, branch_unconditional},
        {"ljmp *(%rax)", {0xff, 0x28}, branch_unconditional},
        {"call *(%rax)", {0xff, 0x10}, branch_unconditional},
        {"sysretq", {0x48, 0x0f, 0x07}, branch_unconditional},
        {"syscall", {0x0f, 0x05}, other},
        {"push (%rax)", {0xff, 0x30}, load_store},
        {"pop (%rax)", {0x8f, 0x00}, load_store},
        {"enter $0,$1", {0xc8, 0x00, 0x00, 0x01}, store},
        {"enter $0,$2", {0xc8, 0x00, 0x00, 0x02}, load_store},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(static_cast<int>(of(c.bytes).kind), static_cast<int>(c.kind)) << c.text;
    }
}

TEST(Decode, WhatVoidsTranslations) {
    EXPECT_TRUE(of({0x0f, 0x22, 0xd8}).changes_translation);              // mov %rax,%cr3
    EXPECT_TRUE(of({0x0f, 0x22, 0xe0}).changes_translation);              // mov %rax,%cr4
    EXPECT_TRUE(of({0x0f, 0x01, 0x38}).changes_translation);              // invlpg (%rax)
    EXPECT_TRUE(of({0x66, 0x0f, 0x38, 0x82, 0x08}).changes_translation);  // invpcid (%rax),%rcx
    EXPECT_FALSE(of({0x0f, 0x20, 0xd8}).changes_translation);             // mov %cr3,%rax
    EXPECT_FALSE(of({0x48, 0x89, 0xc3}).changes_translation);             // mov %rax,%rbx
    EXPECT_FALSE(of({0x0f, 0x01, 0xf8}).changes_translation);             // swapgs
}

TEST(Decode, InstructionsThatGiveUpTheTimeSlice) {
    EXPECT_TRUE(of({0xf4}).halts);
    EXPECT_FALSE(of({0xf4}).pauses);
    EXPECT_TRUE(of({0xf3, 0x90}).pauses);
    EXPECT_FALSE(of({0xf3, 0x90}).halts);
    EXPECT_FALSE(of({0x90}).halts);
    EXPECT_FALSE(of({0x90}).pauses);
    EXPECT_FALSE(of({0xf3, 0x41, 0x90}).pauses);  // xchg %eax,%r8d
}

TEST(Decode, Returns) {
    EXPECT_TRUE(of({0x0f, 0x31}).reads_clock);
    EXPECT_TRUE(of({0x0f, 0x01, 0xf9}).reads_clock);
    EXPECT_FALSE(of({0x0f, 0x01, 0x39}).reads_clock);  // invlpg (%rcx)
    EXPECT_FALSE(of({0x31, 0xc0}).reads_clock);
    EXPECT_TRUE(of({0xc3}).returns);
    EXPECT_TRUE(of({0xf3, 0xc3}).returns);
    EXPECT_FALSE(of({0x48, 0xcf}).returns);
    EXPECT_TRUE(of({0x48, 0xcf}).returns_interrupt);
    EXPECT_FALSE(of({0xcf}).returns_interrupt);  // of 32 bits
    EXPECT_FALSE(of({0xc3}).returns_interrupt);
}

TEST(Decode, MarkersAreOneNopFormOnly) {
    EXPECT_EQ(of({0x0f, 0x1f, 0x80, 0x06, 0x00, 0x38, 0x53}).marker, 6U);
    EXPECT_EQ(of({0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00}).marker, 0U);  // the assembler's padding
    EXPECT_EQ(of({0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x38, 0x53}).marker, 0U);
}

TEST(Decode, AccessSize) {
    EXPECT_EQ(of({0x0f, 0x10, 0x06}).access_bytes, 16U);
    EXPECT_EQ(of({0x8a, 0x07}).access_bytes, 8U);  // a byte, taken as a word: only ever too long
    EXPECT_FALSE(of({0x74, 0xfe}).touches_memory);
    EXPECT_TRUE(of({0xc3}).touches_memory);
}

TEST(Decode, UnknownBytesMayTouchMemory) {
    EXPECT_TRUE(of({0x62, 0xf1, 0x7c, 0x48, 0x10, 0x07}).touches_memory);  // AVX-512
    EXPECT_TRUE(of({0x66, 0x48}).touches_memory);                          // cut off
    EXPECT_TRUE(of({0x0f, 0x04}).touches_memory);
    EXPECT_EQ(static_cast<int>(of({0x0f, 0x04}).kind), static_cast<int>(InstructionClass::other));
}

/// Far more instructions than are remembered, and in between one that differs from each in size alone.
TEST(Decode, AnInstructionIsTheSameWhateverWasDecodedBefore) {
    for (unsigned round = 0; round < 2; ++round) {
        for (unsigned displacement = 0; displacement < 10'000; ++displacement) {
            const auto low = static_cast<std::uint8_t>(displacement);
            const auto high = static_cast<std::uint8_t>(displacement >> 8U);
            const Decoded store = of({0x48, 0x89, 0x87, low, high, 0, 0});  // mov %rax,disp32(%rdi)
            const Decoded load = of({0x48, 0x8b, 0x87, low, high, 0, 0});
            const Decoded marker = of({0x0f, 0x1f, 0x80, low, high, 0x38, 0x53});
            const Decoded longer = of({0x0f, 0x1f, 0x80, low, high, 0x38, 0x53, 0});
            const Decoded pause = of({0xf3, 0x90});
            ASSERT_EQ(store.kind, InstructionClass::store) << displacement;
            ASSERT_EQ(load.kind, InstructionClass::load) << displacement;
            ASSERT_EQ(marker.marker, displacement);
            ASSERT_EQ(longer.marker, 0U) << displacement;
            ASSERT_TRUE(pause.pauses && !store.pauses && !load.pauses) << displacement;
        }
    }
}

}  // namespace s80::plugin
