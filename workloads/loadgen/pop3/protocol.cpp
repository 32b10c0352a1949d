// SPDX-License-Identifier: GPL-2.0-or-later
// CHCK: log in, list the mailbox (STAT, UIDL), log out. RETR: as CHCK, and retrieve the new messages (LIST,
// RETR) and delete some of them (DELE). SEND: send a message to a random user.
#include "protocol.h"

#include <array>

#include "pop3/pop3_client.h"
#include "transaction.h"

namespace s80::loadgen {

namespace {

enum : TransactionType { CHCK, RETR, SEND };
constexpr std::array<std::string_view, 3> kNames = {"CHCK", "RETR", "SEND"};

bool always(Pop3Client&) {
    return true;
}

constexpr Transaction<Pop3Client> kCheck = {
    always, [](Pop3Client& client) { return client.check_mail(false); }, {CHCK, CHCK}};
constexpr Transaction<Pop3Client> kRetrieve = {[](Pop3Client& client) { return client.awaits_mail(); },
                                               [](Pop3Client& client) { return client.check_mail(true); },
                                               {CHCK, CHCK}};
constexpr Transaction<Pop3Client> kSend = {[](Pop3Client& client) { return client.can_send(); },
                                           [](Pop3Client& client) { return client.send_message(); },
                                           {CHCK, CHCK}};

constexpr Transactions<Pop3Client, kNames.size()> kTransactions = {&kCheck, &kRetrieve, &kSend};

}  // namespace

const Protocol pop3_protocol = {"pop3", "127.0.0.1:995", kNames,
                                [](World& world, unsigned index) -> std::unique_ptr<Client> {
                                    return std::make_unique<Pop3Client>(world, index);
                                },
                                "127.0.0.1:110"};

TransactionType Pop3Client::allowed(TransactionType drawn) {
    return loadgen::allowed(kTransactions, *this, drawn);
}

Task Pop3Client::run(TransactionType type) {
    return kTransactions[type]->run(*this);
}

}  // namespace s80::loadgen
