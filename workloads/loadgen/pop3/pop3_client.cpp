// SPDX-License-Identifier: GPL-2.0-or-later
#include "pop3/pop3_client.h"

#include <algorithm>
#include <string>

namespace s80::loadgen {

Task Pop3Client::check_mail(bool retrieve) {
    if (world.job.clients > world.accounts.size()) {
        throw Fatal("job: clients=" + std::to_string(world.job.clients) + " is not allowed: of " +
                    std::to_string(world.accounts.size()) +
                    " users each has one, because a POP3 mailbox is for one session at a time");
    }
    Pop3Session session(world.network);
    co_await session.log_in(world.servers.of(pop3_protocol), world.tls, Accounts::user(account),
                            Accounts::kPassword);
    compare(session.messages());
    co_await session.name_all();
    if (retrieve) {
        co_await retrieve_new(session);
    }
    co_await session.quit();
    done_with(session);
}

void Pop3Client::compare(unsigned messages) {
    unsigned& sent = world.accounts.inbox(account);
    if (!left_) {
        sent = messages;
    } else if (messages < *left_ || messages > sent) {
        throw Failure(ErrorKind::missing, "STAT shows " + std::to_string(messages) + " messages where " +
                                              std::to_string(*left_) + " to " + std::to_string(sent) +
                                              " must be");
    }
    left_ = messages;
}

Task Pop3Client::retrieve_new(Pop3Session& session) {
    co_await session.list();
    retrieved_ = std::min(retrieved_, session.messages());
    const unsigned end = retrieved_ + std::min(session.messages() - retrieved_, world.job.retrieve_max);
    unsigned removed = 0;
    for (unsigned message = retrieved_ + 1; message <= end; ++message) {
        co_await session.retrieve(message);
        if (!(100 * random.uniform() < world.job.delete_percent)) {
            continue;
        }
        co_await session.remove(message);
        ++removed;
    }
    retrieved_ = end - removed;
    *left_ -= removed;
    world.accounts.inbox(account) -= removed;
}

void Pop3Client::settle(bool failed) {
    if (failed) {
        left_.reset();  // nobody knows what a session that ended too early has removed
    }
}

}  // namespace s80::loadgen
