// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "machine/machine.h"
#include "memory/hierarchy.h"
#include "resolved_machine.h"
#include "temporary_file.h"

namespace s80::model {

namespace {

std::string refusal(const std::string& what, const std::string& with) {
    const test::TemporaryFile file(test::replaced(test::kResolvedS80, what, with));
    try {
        Machine::load(file.path());
    } catch (const Error& e) {
        return std::string(e.what()).substr(file.path().size());
    }
    return "accepted";
}

/// What a part of the hierarchy that reads keys of its own says.
std::string refused_part(const std::string& what, const std::string& with) {
    const Machine machine = Machine::parse(test::replaced(test::kResolvedS80, what, with), "m.toml");
    try {
        const Hierarchy hierarchy(machine, Protocol::load(S80_CONFIGS "/protocols/moesi.toml"), 1);
    } catch (const Error& e) {
        return std::string(e.what()).substr(std::string("m.toml: ").size());
    }
    return "accepted";
}

}  // namespace

TEST(MachineFile, Loads) {
    const test::TemporaryFile file(test::kResolvedS80);
    const Machine m = Machine::load(file.path());
    EXPECT_EQ(m.cores(), 18U);
    EXPECT_EQ(m.l2.sets(m.line_bytes), 16384U);
    EXPECT_EQ(m.line_shift(), 7U);
    EXPECT_EQ(m.latency.cache, 120U);
}
TEST(MachineFile, MissingKey) {
    EXPECT_EQ(refusal("memory = 110\n", ""), ": the key latency.memory is missing or of the wrong type");
}
TEST(MachineFile, SetsThatAreNoPowerOfTwo) {
    EXPECT_EQ(refusal("size = 8388608", "size = 6291456"),
              ": l2 of 6291456 bytes, 4 ways and lines of 128 bytes has no power-of-two number of sets");
    EXPECT_EQ(refusal("size = 8388608\nways = 4", "size = 6291456\nways = 3"), "accepted");
}
TEST(MachineFile, LineSize) {
    EXPECT_EQ(refusal("line_bytes = 128", "line_bytes = 96"),
              ": line_bytes is 96, it must be a power of two from 32 to 1024");
}
TEST(MachineFile, TooManyProcessors) {
    EXPECT_EQ(refusal("count = 18", "count = 33"), ": processors.count is 33, at most 32 are supported");
    EXPECT_EQ(refusal("count = 18", "count = 32"), "accepted");
}
TEST(MachineFile, NumbersThatDoNotFit) {
    EXPECT_EQ(refusal("memory = 110\n", "memory = 4294967296\n"),
              ": latency.memory is 4294967296, allowed are 0 to 4294967295");
    EXPECT_EQ(refusal("memory = 110\n", "memory = -1\n"),
              ": latency.memory is -1, allowed are 0 to 4294967295");
    EXPECT_EQ(refusal("memory = 110\n", "memory = 4294967295\n"), "accepted");
    EXPECT_EQ(refusal("count = 18", "count = 4294967314"),
              ": processors.count is 4294967314, allowed are 0 to 4294967295");
    EXPECT_EQ(refusal("size = 8388608", "size = 137438953472"),
              ": l2.size is 137438953472 bytes, at most 68719476736 are supported");
    EXPECT_EQ(refusal("base_cpi = 1.0", "base_cpi = inf"),
              ": clock_hz, clock.quantum_cycles, clock.filter_instructions, clock.epoch_cycles and "
              "clock.base_cpi must "
              "be positive");
    EXPECT_EQ(refusal("size = 8388608", "size = -8388608"), ": l2.size is -8388608, it must be positive");
}
TEST(MachineFile, LengthOfAnEpoch) {
    EXPECT_EQ(
        refusal("epoch_cycles = 20000", "epoch_cycles = 4999"),
        ": clock.epoch_cycles is 4999, it must be from 5000 to 50000: otherwise processors that wait for "
        "each other wait wrongly");
    EXPECT_EQ(
        refusal("epoch_cycles = 20000", "epoch_cycles = 50001"),
        ": clock.epoch_cycles is 50001, it must be from 5000 to 50000: otherwise processors that wait for "
        "each other wait wrongly");
    EXPECT_EQ(refusal("epoch_cycles = 20000", "epoch_cycles = 5000"), "accepted");
    EXPECT_EQ(refusal("epoch_cycles = 20000", "epoch_cycles = 50000"), "accepted");
}
TEST(MachineFile, ThreadsThatDoNotDivide) {
    EXPECT_EQ(refusal("threads_per_core = 1", "threads_per_core = 4"),
              ": processors.count must be a multiple of processors.threads_per_core");
}

TEST(MachineFile, OrganisationOfTheL2) {
    EXPECT_EQ(refused_part("\"inclusive\"", "\"exclusive\""), "accepted");
    EXPECT_EQ(refused_part("\"inclusive\"", "\"loose\""),
              "l2.inclusion is 'loose'; allowed: inclusive, exclusive, exclusive-textbook");
}

TEST(MachineFile, UnknownHomeOrPrefetcherIsRefused) {
    const std::string last = "epoch_cycles = 20000\n";
    EXPECT_EQ(refused_part(last, last + "[home]\nkind = \"ring\"\n"),
              "home.kind is 'ring'; allowed: bus, directory");
    EXPECT_EQ(refused_part(last, last + "[home]\nkind = 3\n"),
              "the key home.kind is missing or of the wrong type");
    EXPECT_EQ(refused_part(last, last + "[prefetcher]\nkind = \"oracle\"\n"),
              "prefetcher.kind is 'oracle'; allowed: none");
}

TEST(MachineFile, Translation) {
    EXPECT_FALSE(Machine::parse(test::kResolvedS80, "a machine").translation.hashed);
    const std::string hashed = std::string(test::kResolvedS80) +
                               "[translation]\nwalks = \"hashed\"\nentries = 512\npage_table = 1048576\n";
    const Machine m = Machine::parse(hashed, "a machine");
    EXPECT_TRUE(m.translation.hashed);
    EXPECT_EQ(m.translation.entries, 512U);
    EXPECT_EQ(m.translation.page_table, 1048576U);
    const auto refused = [&](const std::string& what, const std::string& with) {
        try {
            Machine::parse(test::replaced(hashed, what, with), "a machine");
        } catch (const Error& e) {
            return std::string(e.what());
        }
        return std::string("accepted");
    };
    EXPECT_EQ(refused("\"hashed\"", "\"none\""),
              "a machine: translation.walks is 'none'; allowed: x86, hashed");
    EXPECT_EQ(
        refused("entries = 512", "entries = 2048"),
        "a machine: translation.entries (at most 1024) and translation.page_table must be powers of two");
    EXPECT_EQ(refused("entries = 512\n", ""),
              "a machine: the key translation.entries is missing or of the wrong type");
}

namespace {

constexpr const char* kLlc = "[llc]\nsize = 25165824\nways = 12\nslices = 4\nreplacement = \"srrip\"\n";
constexpr const char* kDirectory =
    "[directory]\nentries = \"1.5x\"\nways = 12\nslices = 18\nreplacement = \"plru\"\n";

/// The S80 with a last-level cache and a bounded directory.
std::string with_llc() {
    return test::replaced(test::kResolvedS80, "upgrade = 60\n", "upgrade = 60\nllc = 40\n") + kLlc +
           kDirectory;
}

std::string refused_llc(const std::string& what, const std::string& with) {
    try {
        Machine::parse(test::replaced(with_llc(), what, with), "a machine");
    } catch (const Error& e) {
        return e.what();
    }
    return "accepted";
}

}  // namespace

TEST(MachineFile, LastLevelCacheAndDirectory) {
    EXPECT_FALSE(Machine::parse(test::kResolvedS80, "a machine").llc);
    EXPECT_FALSE(Machine::parse(test::kResolvedS80, "a machine").directory);
    const std::string lru = test::replaced(with_llc(), "\"plru\"", "\"lru\"");
    const Machine m = Machine::parse(lru, "a machine");
    EXPECT_EQ(m.llc->slice().sets(m.line_bytes), 4096U);
    EXPECT_EQ(m.llc->policy, Policy::srrip);
    EXPECT_EQ(m.latency.llc, 40U);
    EXPECT_EQ(m.directory->lines(m.line_bytes), 18U * 65536 * 3 / 2);
    const Machine counted = Machine::parse(test::replaced(lru, "\"1.5x\"", "884736"), "a machine");
    EXPECT_EQ(counted.directory->lines(m.line_bytes), 884736U);
}

TEST(MachineFile, LastLevelCachesThatCannotBeBuiltAreRefused) {
    EXPECT_EQ(refused_llc("slices = 4", "slices = 7"),
              "a machine: llc.size is 25165824 bytes, which llc.slices = 7 does not divide");
    EXPECT_EQ(refused_llc("slices = 4", "slices = 0"), "a machine: llc.slices is 0, allowed are 1 to 1024");
    EXPECT_EQ(refused_llc("slices = 4", "slices = 3"),
              "a machine: a slice of llc of 8388608 bytes, 12 ways and lines of 128 bytes has no "
              "power-of-two number of "
              "sets");
    EXPECT_EQ(refused_llc("ways = 12\nslices = 4", "ways = 33\nslices = 4"),
              "a machine: a slice of llc.ways is 33, allowed are 1 to 32");
    EXPECT_EQ(refused_llc("\"srrip\"", "\"fifo\""),
              "a machine: llc.replacement is 'fifo'; allowed: lru, plru, random, srrip");
    EXPECT_EQ(refused_llc("llc = 40\n", ""),
              "a machine: the key latency.llc is missing or of the wrong type");
}

TEST(MachineFile, DirectoriesThatCannotBeBuiltAreRefused) {
    EXPECT_EQ(refused_llc("\"1.5x\"", "200"),
              "a machine: directory.entries is 200, less than one set of 12 ways in each of 18 slices");
    EXPECT_EQ(refused_llc("\"1.5x\"", "217"),
              "a machine: directory.entries is 217, which directory.slices = 18 does not divide");
    for (const char* wrong : {"\"1.5\"", "\"x\"", "\"0x\"", "\"-1x\"", "\"1e9x\"", "\"2xx\""}) {
        EXPECT_NE(refused_llc("\"1.5x\"", wrong).find("such as 1.5x"), std::string::npos) << wrong;
    }
    EXPECT_EQ(refused_llc("ways = 12\nslices = 18", "ways = 6\nslices = 18"),
              "a machine: a slice of directory has the replacement policy plru, which needs a power-of-two "
              "number of "
              "ways");
    EXPECT_EQ(refused_llc("policy = \"lru\"", "policy = \"srrip\""),
              "a machine: replacement.policy is 'srrip'; allowed: lru, plru, random");
}

TEST(MachineFile, Bandwidth) {
    EXPECT_EQ(Machine::parse(test::kResolvedS80, "a machine").bandwidth.memory, 0U);
    const std::string queues =
        std::string(test::kResolvedS80) + "[bandwidth]\nbus = 10\nmemory = 40\nbanks = 4\n";
    const Machine m = Machine::parse(queues, "a machine");
    EXPECT_EQ(m.bandwidth.bus, 10U);
    EXPECT_EQ(m.bandwidth.memory, 40U);
    EXPECT_EQ(m.bandwidth.banks, 4U);
    const auto refused = [&](const std::string& what, const std::string& with) {
        try {
            Machine::parse(test::replaced(queues, what, with), "a machine");
        } catch (const Error& e) {
            return std::string(e.what());
        }
        return std::string("accepted");
    };
    const std::string allowed =
        "a machine: bandwidth.bus and bandwidth.memory must be at most 1000000 cycles, and bandwidth.banks "
        "from 1 to "
        "1024";
    EXPECT_EQ(refused("bus = 10", "bus = 1000000"), "accepted");
    EXPECT_EQ(refused("bus = 10", "bus = 1000001"), allowed);
    EXPECT_EQ(refused("memory = 40", "memory = 1000001"), allowed);
    EXPECT_EQ(refused("banks = 4", "banks = 0"), allowed);
    EXPECT_EQ(refused("banks = 4", "banks = 1025"), allowed);
    EXPECT_EQ(refused("memory = 40", "memory = -1"),
              "a machine: bandwidth.memory is -1, allowed are 0 to 4294967295");
    EXPECT_EQ(refused("banks = 4\n", ""),
              "a machine: the key bandwidth.banks is missing or of the wrong type");
}

}  // namespace s80::model
