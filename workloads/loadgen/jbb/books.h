// SPDX-License-Identifier: GPL-2.0-or-later
// The books of one warehouse as its client keeps them: the expected answers of the server.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "jbb/draws.h"

namespace s80::loadgen::jbb {

/// The numbers of a reply.
using Numbers = std::vector<std::int64_t>;

/// The same work, done `count` times, with the references from `first` on.
struct Batch {
    std::uint64_t first;
    std::uint32_t count;
};

class Books {
public:
    /// warehouse: from 1, with the orders that exist at the begin.
    Books(std::uint32_t warehouse, const Sizes& sizes);

    // Each takes a request into the books and tells whether the reply is what it must be.
    bool new_orders(Batch batch, std::span<const std::int64_t> reply);
    bool payments(Batch batch, std::span<const std::int64_t> reply);
    bool order_status(Batch batch, std::span<const std::int64_t> reply) const;
    bool deliveries(Batch batch, std::span<const std::int64_t> reply);
    bool stock_level(Batch batch, std::span<const std::int64_t> reply) const;
    bool customer_report(Batch batch, std::span<const std::int64_t> reply) const;

private:
    static constexpr std::size_t kLatest = 20;  // orders that a district's stock level is about

    struct District {
        std::deque<std::int64_t> undelivered;  // totals
        std::array<std::uint32_t, kLatest> lines{};
        std::uint64_t orders = 0;
        std::uint64_t lines_sum = 0;  // of the latest
    };

    Order place(std::uint64_t reference);
    std::int64_t deliver_one_each();

    Sizes sizes_;
    std::vector<District> districts_;
    std::int64_t placed_ = 0;
    std::int64_t delivered_ = 0;
    std::int64_t paid_ = 0;
    std::int64_t received_ = 0;
};

}  // namespace s80::loadgen::jbb
