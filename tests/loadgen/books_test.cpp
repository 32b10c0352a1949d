// SPDX-License-Identifier: GPL-2.0-or-later
// The books of a warehouse: they take the replies that the server gave to these requests, and no others.
#include "jbb/books.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

using namespace s80::loadgen::jbb;

namespace {

constexpr Sizes kSizes{10, 22, 375, 370, 33};
constexpr Batch kBatch{1'000'000, 3};

struct Exchange {
    std::string name;
    bool (*good)(Books& books, const Numbers& reply);
    Numbers reply;
    std::vector<std::size_t> checked;  // numbers of which no other is right
};

/// In the order in which the third warehouse was asked.
const std::vector<Exchange> exchanges = {
    {"new orders",
     [](Books& books, const Numbers& reply) { return books.new_orders(kBatch, reply); },
     {373, 30, 848812, 2304},
     {0, 1, 2, 3}},
    {"payments",
     [](Books& books, const Numbers& reply) { return books.payments(kBatch, reply); },
     {3, 775946, 768},
     {0, 1, 2}},
    {"order status",
     [](Books& books, const Numbers& reply) { return books.order_status(kBatch, reply); },
     {3, 2, 1000002, 12, 331604, 2496},
     {2, 3, 4, 5}},
    {"deliveries",
     [](Books& books, const Numbers& reply) { return books.deliveries(kBatch, reply); },
     {349, 6777384, 2112},
     {0, 1, 2}},
    {"stock level",
     [](Books& books, const Numbers& reply) { return books.stock_level(kBatch, reply); },
     {594, 25, 384},
     {0, 2}},
    {"customer report",
     [](Books& books, const Numbers& reply) { return books.customer_report(kBatch, reply); },
     {373, 349, 3, 775946, 3072},
     {0, 1, 2, 3, 4}},
};

/// What the answer to exchange `at` is taken for, after the right ones to those before it.
bool taken(std::size_t at, const Numbers& reply) {
    Books books(3, kSizes);
    for (std::size_t i = 0; i < at; ++i) {
        exchanges[i].good(books, exchanges[i].reply);
    }
    return exchanges[at].good(books, reply);
}

}  // namespace

TEST(Books, TakeWhatTheServerAnswers) {
    Books books(3, kSizes);
    for (const Exchange& exchange : exchanges) {
        EXPECT_TRUE(exchange.good(books, exchange.reply)) << exchange.name;
    }
}

TEST(Books, RefuseANumberThatIsNotTheirs) {
    for (std::size_t at = 0; at < exchanges.size(); ++at) {
        for (const std::size_t number : exchanges[at].checked) {
            for (const int off : {-1, 1}) {
                Numbers reply = exchanges[at].reply;
                reply[number] += off;
                EXPECT_FALSE(taken(at, reply)) << exchanges[at].name << ", number " << number;
            }
        }
    }
}

TEST(Books, RefuseAReplyOfAnotherLength) {
    for (std::size_t at = 0; at < exchanges.size(); ++at) {
        Numbers reply = exchanges[at].reply;
        reply.push_back(0);
        EXPECT_FALSE(taken(at, reply)) << exchanges[at].name;
        reply.resize(reply.size() - 2);
        EXPECT_FALSE(taken(at, reply)) << exchanges[at].name;
        EXPECT_FALSE(taken(at, {})) << exchanges[at].name;
    }
}

TEST(Books, RefuseAnOrderOfAnotherCustomer) {
    EXPECT_FALSE(taken(2, {3, 1, 1000002, 12, 331604, 2496}));
    EXPECT_FALSE(taken(2, {4, 2, 1000002, 12, 331604, 2496}));
    EXPECT_FALSE(taken(2, {3, 3, 1000002, 12, 331604, 2496}));
}

TEST(Books, StockIsNeverShortOfMoreThanWasOrdered) {
    EXPECT_TRUE(taken(4, {594, 594, 384}));
    EXPECT_FALSE(taken(4, {594, 595, 384}));
    EXPECT_FALSE(taken(4, {594, -1, 384}));
}
