// SPDX-License-Identifier: GPL-2.0-or-later
#include "mail_queue.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "failure.h"

namespace s80::loadgen {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

/// A log that the test writes.
class Log {
public:
    Log() : file_(mkstemp(path.data())) {}
    ~Log() {
        close(file_);
        unlink(path.c_str());
    }

    void append(std::string_view text) {
        ASSERT_EQ(write(file_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }

    void message(unsigned recipients) {
        append("5c1f6e0d8a7b2c43 smtp message msgid=1f2e3d4c size=2210 nrcpt=" + std::to_string(recipients) +
               " proto=ESMTP\n");
        for (unsigned i = 0; i < recipients; ++i) {
            append(
                "5c1f6e0d8a7b2c43 smtp envelope evpid=1f2e3d4c00000000 from=<a@x.example> "
                "to=<b@x.example>\n");
        }
    }

    void by_program(const std::string& result, const std::string& said = "Delivered") {
        append(
            "5c1f6e0f3b2a1d00 mda delivery evpid=1f2e3d4c00000000 from=<a@x.example> to=<b@x.example> "
            "rcpt=<b@x.example> user=vmail delay=0s result=" +
            result + " stat=" + said + "\n");
    }

    void by_relay(const std::string& result, const std::string& said = "250 2.0.0 Saved") {
        append(
            "5c1f6e0f3b2a1d00 mta delivery evpid=1f2e3d4c00000000 from=<a@x.example> to=<b@x.example> "
            "rcpt=<-> source=\"127.0.0.1\" relay=\"127.0.0.1 (localhost)\" delay=0s result=\"" +
            result + "\" stat=\"" + said + "\"\n");
    }

    std::string path = "/tmp/s80-mail-log-XXXXXX";

private:
    int file_;
};

TEST(MailQueue, HasAnEnvelopeForEachRecipientUntilItIsDelivered) {
    Log log;
    log.append("info: OpenSMTPD 6.8.0p2 starting\n");
    MailQueue queue(log.path);
    queue.look();
    EXPECT_EQ(queue.length(), 0u);
    log.message(3);
    log.message(1);
    queue.look();
    EXPECT_EQ(queue.length(), 4u);
    log.by_program("Ok");
    log.by_relay("Ok");
    queue.look();
    EXPECT_EQ(queue.length(), 2u);
    EXPECT_EQ(queue.counts().accepted, 4u);
    EXPECT_EQ(queue.counts().delivered, 2u);
}

TEST(MailQueue, KeepsWhatIsPutOffAndLosesWhatIsRefused) {
    Log log;
    MailQueue queue(log.path);
    log.message(4);
    log.by_program("TempFail", "Error (temporary failure: \"the mailbox is locked, result=Ok comes later\")");
    log.by_relay("TempFail", "Remote host sent too much data");
    queue.look();
    EXPECT_EQ(queue.length(), 4u);
    EXPECT_EQ(queue.counts().put_off, 2u);
    log.by_program("Ok");
    log.by_relay("Ok");
    log.by_program("PermFail", "Error (\"no such user\")");
    log.by_relay("PermFail", "550 5.1.1 no such user");
    queue.look();
    EXPECT_EQ(queue.length(), 0u);
    EXPECT_EQ(queue.counts().delivered, 2u);
    EXPECT_EQ(queue.counts().put_off, 2u);
    EXPECT_EQ(queue.counts().refused, 2u);
}

TEST(MailQueue, TakesALineOnceItIsWhole) {
    Log log;
    MailQueue queue(log.path);
    for (const std::string_view part :
         {"5c1f smtp mess", "age msgid=1f2e3d4c size=2210 nrc", "pt=1", "2 proto=ESMTP"}) {
        log.append(part);
        queue.look();
        EXPECT_EQ(queue.length(), 0u);
    }
    log.append("\n5c1f mda delivery evpid=1f2e3d4c00000000 delay=0s result=O");
    queue.look();
    EXPECT_EQ(queue.length(), 12u);
    log.append("k stat=Delivered\n5c1f");
    queue.look();
    EXPECT_EQ(queue.length(), 11u);
}

TEST(MailQueue, ReadsMoreThanFitsIntoOneRead) {
    Log log;
    for (int i = 0; i < 1000; ++i) {
        log.message(2);
    }
    MailQueue queue(log.path);
    queue.look();
    EXPECT_EQ(queue.length(), 2000u);
}

TEST(MailQueue, PassesOverWhatIsNoDelivery) {
    Log log;
    MailQueue queue(log.path);
    log.append(
        "5c1f smtp connected address=127.0.0.1 host=localhost\n"
        "5c1f smtp failed-command command=\"RCPT TO:<x>\" result=\"550 Invalid recipient\"\n"
        "5c1f mta connecting address=lmtp://127.0.0.1:24 host=localhost\n"
        "5c1f smtp disconnected reason=quit\n");
    queue.look();
    const MailCounts& counts = queue.counts();
    EXPECT_EQ(counts.accepted + counts.delivered + counts.put_off + counts.refused, 0u);
}

TEST(MailQueue, LooksEachFiftyMillisecondsOfTheRegionAndAtItsEnds) {
    Log log;
    MailQueue queue(log.path);
    queue.begin_region(1'000 * kMs);
    log.message(9);
    queue.look_by_turns(1'060 * kMs);
    log.by_program("PermFail");
    queue.begin_region(2'020 * kMs);
    EXPECT_EQ(queue.begin(), 8u);
    EXPECT_EQ(queue.accepted(), 0u);
    log.by_program("Ok");
    queue.look_by_turns(2'049 * kMs);
    EXPECT_EQ(queue.looks(), 1u);
    queue.look_by_turns(2'080 * kMs);  // 7 are there; the next look is due at 2,100
    log.by_program("Ok");
    queue.look_by_turns(2'099 * kMs);
    EXPECT_EQ(queue.looks(), 2u);
    queue.look_by_turns(2'100 * kMs);
    log.message(2);
    queue.end_region();
    EXPECT_EQ(queue.looks(), 4u);
    EXPECT_EQ(queue.length(), 8u);
    EXPECT_EQ(queue.accepted(), 2u);
    EXPECT_DOUBLE_EQ(queue.mean(), (8 + 7 + 6 + 8) / 4.0);
    EXPECT_EQ(queue.counts().refused, 1u);  // before the region, too
}

TEST(MailQueue, NeedsALog) {
    EXPECT_THROW(MailQueue("/dev/null/smtpd.log"), Fatal);
}

}  // namespace
}  // namespace s80::loadgen
