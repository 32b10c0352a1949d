// SPDX-License-Identifier: GPL-2.0-or-later
// The loader accepts complete tables. For each fault it names the cell.
#include <gtest/gtest.h>

#include "coherence/protocol.h"
#include "temporary_file.h"

namespace s80::model {

using test::replaced;
using test::TemporaryFile;

namespace {

const std::string kMoesi = std::string(S80_CONFIGS) + "/protocols/moesi.toml";

std::string refusal(const std::string& what, const std::string& with) {
    const TemporaryFile file(replaced(TemporaryFile::read_file(kMoesi), what, with));
    try {
        Protocol::load(file.path());
    } catch (const Error& e) {
        const std::string text = e.what();
        EXPECT_EQ(text.rfind(file.path(), 0), 0U) << "the sentence names the file: " << text;
        return text.substr(file.path().size());
    }
    return "accepted";
}

}  // namespace

TEST(ProtocolFile, MoesiLoads) {
    const Protocol p = Protocol::load(kMoesi);
    EXPECT_EQ(p.name(), "moesi");
    EXPECT_EQ(p.states(), 5U);
    EXPECT_EQ(p.find("M"), 0U);  // the order of the file is the order of supply
    EXPECT_EQ(p.find("O"), 1U);
    EXPECT_EQ(p.find("E"), 2U);
    EXPECT_EQ(p.find("S"), 3U);
    EXPECT_EQ(p.invalid(), p.find("I"));
    EXPECT_TRUE(p.writable(p.find("M")));
    EXPECT_FALSE(p.writable(p.find("E")));
}

TEST(ProtocolFile, MissingCell) {
    EXPECT_EQ(refusal("S = { bus = \"upgrade\", next = \"M\" }\n", ""),
              ": the cell own.store.S is missing; write its effect, or impossible = \"why\"");
}
TEST(ProtocolFile, DuplicateCell) {
    EXPECT_NE(refusal("[own.fetch]\n", "[own.fetch]\nM = { next = \"M\" }\n").find("line"),
              std::string::npos);
}
TEST(ProtocolFile, MissingRow) {
    EXPECT_EQ(refusal("[remote.rfo]", "[remote.steal]"), ": the table [remote.rfo] is missing");
}
TEST(ProtocolFile, UnknownNextState) {
    EXPECT_EQ(refusal("O = { next = \"O\", supply = true }", "O = { next = \"Q\", supply = true }"),
              ": remote.read.O.next names the unknown state 'Q'");
}
TEST(ProtocolFile, UnknownKeyInACell) {
    EXPECT_EQ(refusal("E = { next = \"S\", supply = true }", "E = { next = \"S\", suply = true }"),
              ": remote.read.E has the unknown key 'suply'; allowed: next, supply, writeback, gives");
}
TEST(ProtocolFile, UnknownBusRequest) {
    EXPECT_EQ(refusal("bus = \"rfo\"", "bus = \"steal\""),
              ": own.store.I.bus is 'steal'; allowed: read, rfo, upgrade");
}
TEST(ProtocolFile, ImpossibleNeedsAReason) {
    EXPECT_EQ(refusal("\"an absent block cannot be evicted\"", "\"\""),
              ": own.evict.I: the text 'impossible' is missing");
}
TEST(ProtocolFile, SharedWithoutABusRequest) {
    EXPECT_EQ(refusal("E = { next = \"M\" }", "E = { alone = \"M\", shared = \"S\" }"),
              ": own.store.E has no 'bus', so it needs 'next' instead of alone/shared");
}
TEST(ProtocolFile, TwoInvalidStates) {
    EXPECT_EQ(
        refusal("counts_as = \"S\"\nreadable = true\n", ""),
        ": two states are not readable (S and I); exactly one state, the invalid one, must not be readable");
}
TEST(ProtocolFile, InvalidStateThatCounts) {
    EXPECT_EQ(refusal("counts_as = \"S\"\nreadable = true", "counts_as = \"S\""),
              ": states.S is not readable, so it can have neither writable nor counts_as");
}
TEST(ProtocolFile, GivesWithoutSupply) {
    EXPECT_EQ(refusal("S = { next = \"S\", supply = true }", "S = { next = \"S\", gives = \"S\" }"),
              ": remote.read.S.gives needs supply = true");
}
TEST(ProtocolFile, GivesTheInvalidState) {
    EXPECT_EQ(
        refusal("S = { next = \"S\", supply = true }", "S = { next = \"S\", supply = true, gives = \"I\" }"),
        ": remote.read.S.gives is the invalid state, but the requester has just received the block");
}
TEST(ProtocolFile, GivesAnOnlyCopyAndKeepsIt) {
    EXPECT_EQ(
        refusal("M = { next = \"O\", supply = true }", "M = { next = \"O\", supply = true, gives = \"M\" }"),
        ": remote.read.M gives M, the state of an only copy, but keeps a copy in O");
}
TEST(ProtocolFile, GivesAnOnlyCopyAway) {
    EXPECT_EQ(
        refusal("M = { next = \"O\", supply = true }", "M = { next = \"I\", supply = true, gives = \"M\" }"),
        "accepted");
}
TEST(ProtocolFile, AbsentBlockSupplies) {
    EXPECT_EQ(refusal("S = { next = \"S\", supply = true }\nI = { next = \"I\" }",
                      "S = { next = \"S\", supply = true }\nI = { next = \"I\", supply = true }"),
              ": remote.read.I: a cache without the block cannot change state, supply or write back");
}
TEST(ProtocolFile, FlagOfAnotherType) {
    EXPECT_EQ(refusal("S = { next = \"S\", supply = true }", "S = { next = \"S\", supply = \"yes\" }"),
              ": remote.read.S.supply must be true or false");
}
TEST(ProtocolFile, NextBesideAlone) {
    EXPECT_EQ(refusal("I = { bus = \"read\", alone = \"E\", shared = \"S\" }",
                      "I = { bus = \"read\", alone = \"E\", shared = \"S\", next = \"E\" }"),
              ": own.load.I has both 'next' and alone/shared; write one or the other");
}
TEST(ProtocolFile, MissThatAsksNobody) {
    EXPECT_EQ(refusal("I = { bus = \"rfo\", next = \"M\" }", "I = { next = \"M\" }"),
              ": own.store.I: a miss needs data, but the cell has no 'bus'; write bus = read or rfo");
}
TEST(ProtocolFile, MissThatUpgrades) {
    EXPECT_EQ(refusal("I = { bus = \"rfo\", next = \"M\" }", "I = { bus = \"upgrade\", next = \"M\" }"),
              ": own.store.I: a miss needs data, but an upgrade carries no data; write bus = read or rfo");
}
TEST(ProtocolFile, AccessThatEndsInvalid) {
    EXPECT_EQ(refusal("E = { next = \"M\" }", "E = { next = \"I\" }"),
              ": own.store.E.next is the invalid state, but the core has just accessed the block");
}
TEST(ProtocolFile, EvictionThatKeepsTheBlock) {
    EXPECT_EQ(refusal("O = { next = \"I\", writeback = true }", "O = { next = \"S\", writeback = true }"),
              ": own.evict.O.next must be the invalid state I");
}
TEST(ProtocolFile, WritebackOfAnAccess) {
    EXPECT_EQ(refusal("E = { next = \"M\" }", "E = { next = \"M\", writeback = true }"),
              ": own.store.E has the unknown key 'writeback'; allowed: bus, next, alone, shared");
}
TEST(ProtocolFile, UnknownOrganisation) {
    EXPECT_EQ(refusal("\n[states.M]", "l2_inclusion = \"none\"\n[states.M]"),
              ": l2_inclusion is 'none'; allowed: inclusive, exclusive");
}
TEST(ProtocolFile, Hammer) {
    const Protocol p = Protocol::load(std::string(S80_CONFIGS) + "/protocols/hammer.toml");
    const RemoteCell& read_of_mm = p.remote(Bus::read, p.find("MM"));
    EXPECT_TRUE(read_of_mm.gives);
    EXPECT_EQ(read_of_mm.given, p.find("D"));
    EXPECT_EQ(read_of_mm.next, p.invalid());
    EXPECT_EQ(p.l2_inclusion(), "exclusive");
    EXPECT_TRUE(p.leaves_shared());
    EXPECT_TRUE(p.bus_suffices());
}
TEST(ProtocolFile, EveryShippedTableLoads) {
    for (const char* name : {"msi", "mesi", "mosi", "moesi", "moesi-dirty-supply", "moesi-without-e", "mesif",
                             "hammer", "mesi-llc", "mesif-snoop-filter", "chi-slc", "moesi-victim"}) {
        const Protocol p = Protocol::load(std::string(S80_CONFIGS) + "/protocols/" + name + ".toml");
        EXPECT_EQ(p.name(), name);
        EXPECT_FALSE(p.source().empty()) << name;
    }
}
TEST(ProtocolFile, AbsentFile) {
    EXPECT_THROW(Protocol::load("/dev/null/p.toml"), Error);
}

}  // namespace s80::model
