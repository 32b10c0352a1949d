// SPDX-License-Identifier: GPL-2.0-or-later
// A table is whole or refused: each fault with the cell that it is in.
#include <gtest/gtest.h>

#include "model/protocol.h"
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
              ": the cell own.store.S is missing; write what happens, or impossible = \"why\"");
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
              ": remote.read.E has the unknown key 'suply'; allowed: next, supply, writeback");
}
TEST(ProtocolFile, UnknownBusRequest) {
    EXPECT_EQ(refusal("bus = \"rfo\"", "bus = \"steal\""),
              ": own.store.I.bus is 'steal'; allowed: read, rfo, upgrade");
}
TEST(ProtocolFile, ImpossibleNeedsAReason) {
    EXPECT_EQ(refusal("\"an absent block cannot be evicted\"", "\"\""),
              ": own.evict.I lacks the text 'impossible'");
}
TEST(ProtocolFile, SharedWithoutABusRequest) {
    EXPECT_EQ(refusal("E = { next = \"M\" }", "E = { alone = \"M\", shared = \"S\" }"),
              ": own.store.E asks nobody, so it needs 'next' and not alone/shared");
}
TEST(ProtocolFile, TwoInvalidStates) {
    EXPECT_EQ(refusal("counts_as = \"S\"\nreadable = true", "counts_as = \"S\""),
              ": two states are not readable (S and I); exactly one, the invalid one, may be");
}
TEST(ProtocolFile, AbsentFile) {
    EXPECT_THROW(Protocol::load("/nonexistent/p.toml"), Error);
}

}  // namespace s80::model
