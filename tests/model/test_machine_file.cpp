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
    EXPECT_EQ(refusal("memory = 110\n", ""), ": the key `latency.memory` is missing");
}
TEST(MachineFile, MissingKeyWithADefaultHasIt) {
    const std::string shorter = test::replaced(
        test::replaced(test::kResolvedS80, "quantum_cycles = 200\n", ""), "policy = \"lru\"\n", "");
    const Machine m = Machine::parse(shorter, "a machine");
    EXPECT_EQ(m.quantum_cycles, 200U);
    EXPECT_EQ(m.policy, Policy::lru);
}
TEST(MachineFile, SetsThatAreNoPowerOfTwo) {
    EXPECT_EQ(refusal("size = 8388608", "size = 6291456"),
              ": l2.size = 6291456 bytes in 4 ways of 128-byte lines makes 12288 sets; the number of sets "
              "must be a "
              "power of two");
    EXPECT_EQ(refusal("size = 8388608\nways = 4", "size = 6291456\nways = 3"), "accepted");
}
TEST(MachineFile, LineSize) {
    EXPECT_EQ(refusal("line_bytes = 128", "line_bytes = 96"), ": line_bytes = 96 must be a power of two");
}
TEST(MachineFile, TooManyProcessors) {
    EXPECT_EQ(refusal("count = 18", "count = 33"), ": processors.count = 33, at most 32 are supported");
    EXPECT_EQ(refusal("count = 18", "count = 32"), "accepted");
}
TEST(MachineFile, NumbersThatDoNotFit) {
    EXPECT_EQ(refusal("memory = 110\n", "memory = 4294967296\n"),
              ": key `latency.memory`: `4294967296` is not allowed; write a number of at most 4294967295");
    EXPECT_EQ(refusal("memory = 110\n", "memory = -1\n"),
              ": key `latency.memory`: `-1` is not allowed; write a number of at least 0");
    EXPECT_EQ(refusal("memory = 110\n", "memory = 4294967295\n"), "accepted");
    EXPECT_EQ(refusal("count = 18", "count = 4294967314"),
              ": key `processors.count`: `4294967314` is not allowed; write a number of at most 256");
    EXPECT_EQ(refusal("size = 8388608", "size = 137438953472"),
              ": key `l2.size`: `137438953472` is not allowed; write a number of at most 68719476736");
    EXPECT_EQ(refusal("base_cpi = 1.0", "base_cpi = inf"),
              ": key `clock.base_cpi`: `inf` is not allowed; write a finite number");
    EXPECT_EQ(refusal("size = 8388608", "size = -8388608"),
              ": key `l2.size`: `-8388608` is not allowed; write a number of at least 0");
}
TEST(MachineFile, LengthOfAnEpoch) {
    EXPECT_EQ(refusal("epoch_cycles = 20000", "epoch_cycles = 4999"),
              ": key `clock.epoch_cycles`: `4999` is not allowed; write a number of at least 5000");
    EXPECT_EQ(refusal("epoch_cycles = 20000", "epoch_cycles = 50001"),
              ": key `clock.epoch_cycles`: `50001` is not allowed; write a number of at most 50000");
    EXPECT_EQ(refusal("epoch_cycles = 20000", "epoch_cycles = 5000"), "accepted");
    EXPECT_EQ(refusal("epoch_cycles = 20000", "epoch_cycles = 50000"), "accepted");
}
TEST(MachineFile, ThreadsThatDoNotDivide) {
    EXPECT_EQ(refusal("threads_per_core = 1", "threads_per_core = 4"),
              ": processors.count = 18 must be a multiple of processors.threads_per_core = 4");
}

TEST(MachineFile, OrganisationOfTheL2) {
    EXPECT_EQ(refused_part("\"inclusive\"", "\"exclusive\""), "accepted");
    EXPECT_EQ(refused_part("\"inclusive\"", "\"loose\""),
              "key `l2.inclusion`: `loose` is not one of its values; allowed are inclusive, exclusive, "
              "exclusive-textbook, inclusive-gem5");
}

TEST(MachineFile, UnknownHomeOrPrefetcherIsRefused) {
    const std::string last = "epoch_cycles = 20000\n";
    EXPECT_EQ(refused_part(last, last + "[home]\nkind = \"ring\"\n"),
              "key `home.kind`: `ring` is not one of its values; allowed are bus, directory");
    EXPECT_EQ(refused_part(last, last + "[home]\nkind = 3\n"),
              "key `home.kind`: `3` is not allowed; write a text in quotes");
    EXPECT_EQ(refused_part(last, last + "[prefetcher]\nkind = \"oracle\"\n"),
              "key `prefetcher.kind`: `oracle` is not one of its values; allowed are none");
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
              "a machine: key `translation.walks`: `none` is not one of its values; allowed are x86, hashed");
    EXPECT_EQ(refused("entries = 512", "entries = 2048"),
              "a machine: key `translation.entries`: `2048` is not allowed; write a number of at most 1024");
    EXPECT_EQ(refused("entries = 512", "entries = 500"),
              "a machine: translation.entries = 500 must be a power of two");
    EXPECT_EQ(refused("entries = 512\n", ""), "accepted");
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
    EXPECT_EQ(
        refused_llc("slices = 4", "slices = 7"),
        "a machine: llc.size = 25165824 bytes makes 196608 lines, which llc.slices = 7 does not divide");
    EXPECT_EQ(refused_llc("slices = 4", "slices = 0"),
              "a machine: key `llc.slices`: `0` is not allowed; write a number of at least 1");
    EXPECT_EQ(refused_llc("slices = 4", "slices = 3"),
              "a machine: llc.size = 25165824 bytes with llc.slices = 3 and 12 ways makes 5461.33 sets in a "
              "slice; the number of sets must be a power of two");
    EXPECT_EQ(refused_llc("size = 25165824", "size = 100"),
              "a machine: llc.size = 100 bytes is not a whole number of 128-byte lines");
    EXPECT_EQ(refused_llc("ways = 12\nslices = 4", "ways = 33\nslices = 4"),
              "a machine: key `llc.ways`: `33` is not allowed; write a number of at most 32");
    EXPECT_EQ(refused_llc("\"srrip\"", "\"fifo\""),
              "a machine: key `llc.replacement`: `fifo` is not one of its values; allowed are lru, plru, "
              "random, srrip");
    EXPECT_EQ(refused_llc("llc = 40\n", ""), "a machine: the key `latency.llc` is missing");
}

TEST(MachineFile, DirectoriesThatCannotBeBuiltAreRefused) {
    EXPECT_EQ(refused_llc("\"1.5x\"", "200"),
              "a machine: directory.entries = 200 is less than one set of 12 ways in each slice "
              "(directory.slices = 18): make directory larger, or lower ways or slices");
    EXPECT_EQ(refused_llc("\"1.5x\"", "217"),
              "a machine: directory.entries = 217 makes 217 lines, which directory.slices = 18 does not "
              "divide");
    EXPECT_EQ(refused_llc("\"1.5x\"", "0"),
              "a machine: key `directory.entries`: `0` is not allowed; write a number of at least 1");
    for (const char* wrong : {"\"1.5\"", "\"x\"", "\"0x\"", "\"-1x\"", "\"1e9x\"", "\"2xx\"", "\"nanx\""}) {
        EXPECT_NE(refused_llc("\"1.5x\"", wrong).find("such as 1.5x"), std::string::npos) << wrong;
    }
    EXPECT_EQ(
        refused_llc("\"1.5x\"", "\"0.0000001x\""),
        "a machine: key `directory.entries`: `0.0000001x` is not allowed; write a number of at least 1");
    EXPECT_EQ(
        refused_llc("\"1.5x\"", "\"1001x\""),
        "a machine: key `directory.entries`: `1001x` is not allowed; write a whole number, or a multiple of "
        "at most 1000 such as 1.5x");
    EXPECT_EQ(refused_llc("ways = 12\nslices = 18", "ways = 6\nslices = 18"),
              "a machine: directory.ways = 6 must be a power of two for the replacement policy `plru`");
    EXPECT_EQ(refused_llc("policy = \"lru\"", "policy = \"srrip\""),
              "a machine: key `replacement.policy`: `srrip` is not one of its values; allowed are lru, plru, "
              "random");
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
    const auto not_allowed = [](const std::string& key, const std::string& value, const std::string& limit) {
        return "a machine: key `bandwidth." + key + "`: `" + value +
               "` is not allowed; write a number of at " + limit;
    };
    EXPECT_EQ(refused("bus = 10", "bus = 1000000"), "accepted");
    EXPECT_EQ(refused("bus = 10", "bus = 1000001"), not_allowed("bus", "1000001", "most 1000000"));
    EXPECT_EQ(refused("memory = 40", "memory = 1000001"), not_allowed("memory", "1000001", "most 1000000"));
    EXPECT_EQ(refused("banks = 4", "banks = 0"), not_allowed("banks", "0", "least 1"));
    EXPECT_EQ(refused("banks = 4", "banks = 1025"), not_allowed("banks", "1025", "most 1024"));
    EXPECT_EQ(refused("memory = 40", "memory = -1"), not_allowed("memory", "-1", "least 0"));
    EXPECT_EQ(refused("banks = 4\n", ""), "accepted");
}

namespace {

std::string with_groups(const std::string& group, const std::string& latency = "group = 30\n") {
    return test::replaced(test::kResolvedS80, "upgrade = 60\n", "upgrade = 60\n" + latency) + group;
}

std::string refused_groups(const std::string& group, const std::string& latency = "group = 30\n") {
    try {
        Machine::parse(with_groups(group, latency), "a machine");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST(MachineFile, GroupCachesAreRead) {
    EXPECT_FALSE(Machine::parse(test::kResolvedS80, "a machine").group);
    const std::string text = "[group]\ncores = 6\nsize = 8388608\nways = 16\nreplacement = \"srrip\"\n";
    const Machine m = Machine::parse(with_groups(text), "a machine");
    EXPECT_EQ(m.group->cores, 6U);
    EXPECT_EQ(m.group->cache.bytes, 8388608U);
    EXPECT_EQ(m.group->cache.ways, 16U);
    EXPECT_EQ(m.group->policy, Policy::srrip);
    EXPECT_EQ(m.latency.group, 30U);
    EXPECT_EQ(m.agents(), 21U);
}

TEST(MachineFile, GroupCachesThatCannotBeBuiltAreRefused) {
    EXPECT_EQ(refused_groups("[group]\ncores = 4\nsize = 8388608\nways = 16\n"),
              "a machine: group.cores = 4 does not divide the 18 cores of the machine");
    EXPECT_EQ(refused_groups("[group]\ncores = 6\nsize = 8388608\nways = 16\n", ""),
              "a machine: the key `latency.group` is missing");
    EXPECT_EQ(refused_groups("[group]\ncores = 6\nsize = 8388608\nways = 12\n"),
              "a machine: group.size = 8388608 bytes in 12 ways of 128-byte lines makes 5461.33 sets; the "
              "number of "
              "sets must be a power of two");
    EXPECT_EQ(refused_groups("[group]\ncores = 6\nsize = 786432\nways = 12\nreplacement = \"plru\"\n"),
              "a machine: group.ways = 12 must be a power of two for the replacement policy `plru`");
    EXPECT_EQ(
        refused_groups("[group]\ncores = 1\nsize = 8388608\nways = 16\n"),
        "a machine: the machine has 18 cores and 18 group caches, at most 32 of both together are supported");
}

}  // namespace s80::model
