// SPDX-License-Identifier: GPL-2.0-or-later
#include "job.h"

#include <gtest/gtest.h>

#include <string>

#include "failure.h"

namespace s80::loadgen {
namespace {

const std::string mix_line = "mix_percent=1 2 3 4 5 6 7 8 9 10\n";
const std::string independent = "driver=independent\n" + mix_line;

/// The sentence with which a job is refused; empty when it is taken.
std::string refusal(const std::string& text) {
    try {
        parse_job(text);
    } catch (const Fatal& fatal) {
        return fatal.what();
    }
    return "";
}

TEST(Job, ReadsKeysCommentsAndBlankLines) {
    const Job job = parse_job(
        "# a job\n\nmix = imape  # name\nclients=7\nusers=9\nthink_ms=1.5\nthink=constant\n"
        "seed=18446744073709551615\nmove=copy\nmailboxes_min=3\r\nclock_shift=1\n" +
        independent);
    EXPECT_EQ(job.mix, "imape");
    EXPECT_EQ(job.clients, 7u);
    EXPECT_EQ(job.users, 9u);
    EXPECT_DOUBLE_EQ(job.think_ms, 1.5);
    EXPECT_TRUE(job.think_constant);
    EXPECT_EQ(job.seed, ~std::uint64_t{0});
    EXPECT_EQ(job.move, MoveMode::copy);
    EXPECT_EQ(job.mailboxes_min, 3u);
    EXPECT_EQ(job.clock_shift, 1u);
    EXPECT_FALSE(job.chain);
    EXPECT_DOUBLE_EQ(job.mix_percent[9], 10);
}

TEST(Job, NamesAnUnknownKey) {
    const std::string message = refusal("clinets=3\n" + independent);
    EXPECT_NE(message.find("unknown key 'clinets'"), std::string::npos) << message;
    EXPECT_NE(message.find("clients"), std::string::npos) << message;
}

TEST(Job, BoundsTheSizeOfAMessage) {
    const std::string route = "protocol=route\ndriver=independent\nmix_percent=1 0\n";
    EXPECT_EQ(parse_job(route + "message_bytes=65536\n").message_bytes, 65536u);
    EXPECT_NE(refusal(route + "message_bytes=15\n").find("16 to 65536"), std::string::npos);
    EXPECT_NE(refusal(route + "message_bytes=65537\n").find("above 65536"), std::string::npos);
}

TEST(Job, NamesTheKeyOfABadValue) {
    EXPECT_NE(refusal("clients=0\n" + independent).find("clients=0"), std::string::npos);
    EXPECT_NE(refusal("clients=3x\n" + independent).find("clients=3x"), std::string::npos);
    EXPECT_NE(refusal("think=slow\n" + independent).find("exponential or constant"), std::string::npos);
    EXPECT_NE(refusal("clock_shift=11\n" + independent).find("from 0 to 10"), std::string::npos);
    EXPECT_NE(refusal("clients=-1\n" + independent).find("clients=-1"), std::string::npos);
    EXPECT_NE(refusal("think_ms=-1\n" + independent).find("think_ms"), std::string::npos);
    EXPECT_NE(refusal("driver=independent\nmix_percent=1 2 3\n").find("10 numbers"), std::string::npos);
    EXPECT_NE(refusal("transactions=SELT\n" + independent).find("CRTE DELT"), std::string::npos);
    EXPECT_NE(refusal("clients\n" + independent).find("key=value"), std::string::npos);
}

TEST(Job, NeedsTheMixAndAllRowsOfTheChain) {
    EXPECT_NE(refusal("clients=1\n").find("mix_percent"), std::string::npos);
    std::string rows = mix_line;
    for (const auto name : imap_protocol.transactions) {
        if (name != "MDEL") {
            rows += "transition." + std::string(name) + "=1 1 1 1 1 1 1 1 1 1\n";
        }
    }
    EXPECT_NE(refusal(rows).find("transition.MDEL"), std::string::npos);
    EXPECT_EQ(refusal(rows + "transition.MDEL=0 0 0 0 0 0 0 0 0 1\n"), "");
}

TEST(Job, HasTheTransactionsOfItsProtocol) {
    const Job job = parse_job("driver=independent\nmix_percent=60 20 20\nprotocol=pop3\nretrieve_max=3\n");
    EXPECT_EQ(job.protocol, &pop3_protocol);
    EXPECT_EQ(job.mix_percent.size(), 3u);
    EXPECT_EQ(job.retrieve_max, 3u);
    EXPECT_NE(refusal("protocol=pop3\n" + independent).find("3 numbers"), std::string::npos);
    EXPECT_NE(refusal("protocol=nntp\n" + independent).find("imap, pop3, web"), std::string::npos);
    EXPECT_NE(refusal("protocol=web\ntransition.SELT=1 1\n").find("unknown key"), std::string::npos);
}

TEST(Job, SaysWhetherAWebServerIsAskedOverTls) {
    const std::string web = "protocol=web\ndriver=independent\nmix_percent=100 0\n";
    EXPECT_TRUE(parse_job(web).tls);
    EXPECT_FALSE(parse_job(web + "tls=0\n").tls);
    EXPECT_NE(refusal(web + "tls=no\n").find("tls=no"), std::string::npos);
    EXPECT_NE(refusal("tls=0\n" + independent).find("unknown key 'tls'"), std::string::npos)
        << "IMAP has it always";
}

TEST(Job, SaysHowHeadersAreFetched) {
    EXPECT_EQ(parse_job(independent).header_fetch, 0u);
    EXPECT_EQ(parse_job("header_fetch=range\n" + independent).header_fetch, 0u);
    EXPECT_EQ(parse_job("header_fetch=each\n" + independent).header_fetch, 1u);
    EXPECT_EQ(parse_job("header_fetch=20\n" + independent).header_fetch, 20u);
    EXPECT_NE(refusal("header_fetch=some\n" + independent).find("range, each or"), std::string::npos);
    EXPECT_NE(refusal("header_fetch=0\n" + independent).find("header_fetch=0"), std::string::npos);
}

TEST(Job, RefusesThresholdsInTheWrongOrder) {
    EXPECT_EQ(refusal("mailboxes_min=5\nmailboxes_max=5\n" + independent), "");
    EXPECT_NE(refusal("mailboxes_min=6\nmailboxes_max=5\n" + independent), "");
    EXPECT_NE(refusal("messages_min=6\nmessages_max=5\n" + independent), "");
}

}  // namespace
}  // namespace s80::loadgen
