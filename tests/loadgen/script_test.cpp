// SPDX-License-Identifier: GPL-2.0-or-later
#include "scripts/script.h"

#include <gtest/gtest.h>

#include <string>

#include "failure.h"
#include "job.h"
#include "load.h"
#include "world.h"

namespace s80::loadgen {
namespace {

const std::string head = "protocol=scripts\nclients=3\nusers=3\nsizes=1062:90 34762:10\n";
const std::string reader = "script=READ imap 2\nthink=constant 5\nstep=connect\nstep=login\nstep=body\n";
const std::string sender = "script=WRITE smtp 1\nrate_per_s=3\nstep=send 2 2050\n";

std::string refusal(const std::string& text) {
    try {
        parse_job(text);
    } catch (const Fatal& fatal) {
        return fatal.what();
    }
    return "";
}

/// What is said of a job whose reader has one line more.
std::string of_line(const std::string& line) {
    return refusal(head + reader + line + "\n" + sender);
}

TEST(Script, IsReadLineByLine) {
    const Job job =
        parse_job(head + reader +
                  "ramp_s=2\nstart=connect\nstep=repeat 6\nstep=wait uniform 1 5\nstep=headers 5\n"
                  "step=percent 12.5\nstep=append Sent\nstep=end\nstep=end\n" +
                  sender);
    ASSERT_EQ(job.scripts.size(), 2u);
    EXPECT_EQ(job.transactions, (std::vector<std::string>{"READ", "WRITE"}));
    const Script& read = job.scripts[0];
    EXPECT_EQ(read.clients, 2u);
    EXPECT_FALSE(read.open());
    EXPECT_DOUBLE_EQ(read.ramp_s, 2);
    EXPECT_DOUBLE_EQ(read.think.ms, 5);
    ASSERT_EQ(read.start.size(), 1u);
    ASSERT_EQ(read.steps.size(), 10u);
    EXPECT_EQ(read.steps[3].partner, 9u);
    EXPECT_EQ(read.steps[9].partner, 3u);
    EXPECT_EQ(read.steps[6].partner, 8u);
    EXPECT_EQ(read.steps[5].count, 5u);
    EXPECT_EQ(read.steps[7].word, "Sent");
    EXPECT_TRUE(job.scripts[1].open());
    EXPECT_EQ(job.scripts[1].steps[0].count, 2u);
    EXPECT_EQ(job.scripts[1].steps[0].bytes, 2050u);
}

TEST(Script, RefusesWhatItCannotFollow) {
    EXPECT_EQ(of_line("step=noop"), "");
    for (const char* step : {"status INBOX", "search unseen", "search subject word", "move Sent", "idle",
                             "done", "store \\Seen", "store $Forwarded"}) {
        EXPECT_EQ(of_line(std::string("step=") + step), "") << step;
    }
    EXPECT_NE(of_line("step=search").find("followed by a search key"), std::string::npos);
    EXPECT_NE(of_line("step=search subject two words").find("followed by a search key"), std::string::npos);
    EXPECT_NE(of_line("step=search {5}").find("a search key of letters"), std::string::npos);
    EXPECT_NE(of_line("step=retr").find("one of wait, connection, repeat"), std::string::npos);
    EXPECT_NE(of_line("step=noop 3").find("without arguments"), std::string::npos);
    EXPECT_NE(of_line("step=flags some").find("`all`, `last` or"), std::string::npos);
    EXPECT_NE(of_line("step=append Sent 100").find("512 to 143360"), std::string::npos);
    EXPECT_NE(of_line("step=send").find("number of recipients"), std::string::npos);
    EXPECT_NE(of_line("step=send 0").find("at least 1"), std::string::npos);
    EXPECT_NE(of_line("step=wait uniform 5 1").find("uniform LEAST MOST"), std::string::npos);
    EXPECT_NE(of_line("step=wait").find("exponential MEAN"), std::string::npos);
    EXPECT_NE(of_line("step=repeat 0").find("at least 1"), std::string::npos);
    EXPECT_NE(of_line("step=percent 101").find("0 to 100"), std::string::npos);
    EXPECT_NE(of_line("step=connection 5").find("1 to 4"), std::string::npos);
    EXPECT_NE(of_line("step=repeat 2").find("has no end"), std::string::npos);
    EXPECT_NE(of_line("step=end").find("`end` without a block"), std::string::npos);
    EXPECT_NE(of_line("step=").find("one of"), std::string::npos);
    EXPECT_NE(of_line("start=wait constant 1").find("do not wait before the load"), std::string::npos);
    EXPECT_NE(of_line("mix_percent=1").find("unknown key"), std::string::npos);
    EXPECT_NE(of_line("sizes=1062").find("BYTES:PERCENT"), std::string::npos);
}

TEST(Script, RefusesScriptsThatDoNotFitTheJob) {
    EXPECT_EQ(refusal(head + reader + sender), "");
    EXPECT_NE(refusal("tls=2\n" + head + reader + sender).find("0 or 1"), std::string::npos);
    EXPECT_NE(refusal(head).find("the key script is missing"), std::string::npos);
    EXPECT_NE(refusal(head + reader).find("2 clients together"), std::string::npos);
    EXPECT_NE(refusal(head + "step=noop\n").find("before the first script"), std::string::npos);
    EXPECT_NE(refusal(head + reader + "script=READ smtp 1\nstep=send 1\n").find("a name of its own"),
              std::string::npos);
    EXPECT_NE(refusal("protocol=scripts\nclients=2\nusers=3\n" + reader).find("sizes is missing"),
              std::string::npos);
    EXPECT_NE(refusal("protocol=scripts\nclients=2\nusers=1\nscript=A pop3 2\nstep=connect\n")
                  .find("one session at a time"),
              std::string::npos);
    EXPECT_NE(refusal("protocol=scripts\nscript=A imap 1\nstep=percent 50\nstep=noop\nstep=end\n")
                  .find("outside of"),
              std::string::npos);
}

TEST(Script, OfACheckpointCannotChange) {
    const std::string text = head + reader + sender;
    Clock clock("host");
    Servers servers;
    servers.smtp.push_back(parse_endpoint("127.0.0.1:25"));
    World world(clock, servers, false, parse_job("hold=1\n" + text));
    const PhasePage page;
    Load load(world, page);
    EXPECT_NO_THROW(load.take(parse_job("seed=4\n" + text)));
    EXPECT_THROW(load.take(parse_job(text + "step=send 1\n")), Fatal);
    EXPECT_THROW(load.take(parse_job("tls=0\n" + text)), Fatal);
    EXPECT_THROW(load.take(parse_job("recipients=clients\n" + text)), Fatal);
}

TEST(Wait, IsDrawnFromItsDistribution) {
    Random random(1);
    EXPECT_DOUBLE_EQ((Wait{Wait::Form::constant, 3, 0}.draw_ns(random)), 3e6);
    double uniform = 0, exponential = 0;
    constexpr int kDraws = 20'000;
    for (int i = 0; i < kDraws; ++i) {
        const double ns = Wait{Wait::Form::uniform, 2, 6}.draw_ns(random);
        EXPECT_GE(ns, 2e6);
        EXPECT_LT(ns, 6e6);
        uniform += ns;
        exponential += Wait{Wait::Form::exponential, 4, 0}.draw_ns(random);
    }
    EXPECT_NEAR(uniform / kDraws, 4e6, 4e4);
    EXPECT_NEAR(exponential / kDraws, 4e6, 1.2e5);
}

TEST(SizeTable, TellsMessagesByTheNearestSize) {
    SizeTable sizes;
    for (const std::size_t bytes : {1062u, 2050u, 34762u}) {
        sizes.add(bytes, 1);
    }
    EXPECT_EQ(sizes.nearest(1), 1062u);
    EXPECT_EQ(sizes.nearest(1475), 1062u);  // the geometric mean of the first two is 1475.5
    EXPECT_EQ(sizes.nearest(1476), 2050u);
    EXPECT_EQ(sizes.nearest(1'000'000), 34762u);
}

}  // namespace
}  // namespace s80::loadgen
