// SPDX-License-Identifier: GPL-2.0-or-later
// NEWO: customers order. PAYM: customers pay. ORDS: customers ask for their latest orders. DLVR: the oldest
// orders are delivered. STCK: lists recently ordered items that run short. CUST: reports on customers.
#include "protocol.h"

#include <array>
#include <string>

#include "jbb/jbb_client.h"

namespace s80::loadgen {

namespace {

enum : TransactionType { NEW_ORDERS, PAYMENTS, ORDER_STATUS, DELIVERIES, STOCK_LEVEL, CUSTOMER_REPORT };
constexpr std::array<std::string_view, 6> kNames = {"NEWO", "PAYM", "ORDS", "DLVR", "STCK", "CUST"};

bool good(jbb::Books& books, TransactionType type, jbb::Batch batch, const jbb::Numbers& reply) {
    switch (type) {
        case NEW_ORDERS: return books.new_orders(batch, reply);
        case PAYMENTS: return books.payments(batch, reply);
        case ORDER_STATUS: return books.order_status(batch, reply);
        case DELIVERIES: return books.deliveries(batch, reply);
        case STOCK_LEVEL: return books.stock_level(batch, reply);
        default: return books.customer_report(batch, reply);
    }
}

}  // namespace

const Protocol jbb_protocol = {"jbb", "127.0.0.1:2000", kNames,
                               [](World& world, unsigned index) -> std::unique_ptr<Client> {
                                   return std::make_unique<JbbClient>(world, index);
                               }};

Task JbbClient::run(TransactionType type) {
    const jbb::Batch batch{random.bits() >> 2, world.job.batch};  // positive, and so is its end
    co_await session_->ask(std::string(kNames[type]) + " " + std::to_string(batch.count) + " " +
                           std::to_string(batch.first));
    if (!good(*books_, type, batch, session_->numbers())) {
        throw Failure(ErrorKind::missing, "the books say otherwise: " + session_->reply());
    }
}

}  // namespace s80::loadgen
