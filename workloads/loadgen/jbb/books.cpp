// SPDX-License-Identifier: GPL-2.0-or-later
#include "jbb/books.h"

#include <algorithm>
#include <initializer_list>

namespace s80::loadgen::jbb {

namespace {

/// Characters of a line of the server's screens, which show so many lines of each transaction:
constexpr std::int64_t kWidth = 64;
constexpr std::int64_t kOfOrder = 2;  // beside those of the order itself
constexpr std::int64_t kOfPayment = 4;
constexpr std::int64_t kOfDelivery = 1;  // beside one a district
constexpr std::int64_t kOfStockLevel = 2;
constexpr std::int64_t kOfReport = 3;  // at least

/// Whether a reply begins with these numbers and is as long as they say, and `more` numbers behind.
bool is(std::span<const std::int64_t> reply, std::initializer_list<std::int64_t> begin,
        std::size_t more = 0) {
    return reply.size() == begin.size() + more && std::equal(begin.begin(), begin.end(), reply.begin());
}

/// Whole lines, so many at least.
bool shows(std::int64_t characters, std::int64_t lines) {
    return characters % kWidth == 0 && characters >= lines * kWidth;
}

}  // namespace

Books::Books(std::uint32_t warehouse, const Sizes& sizes) : sizes_(sizes), districts_(sizes.districts) {
    const std::uint64_t first = std::uint64_t{warehouse} << 32;
    for (std::uint32_t i = 0; i < sizes.filled; ++i) {
        place(first + i);
    }
    for (std::uint32_t i = 0; i < sizes.rounds; ++i) {
        deliver_one_each();
    }
}

Order Books::place(std::uint64_t reference) {
    const Order order(reference, sizes_);
    District& district = districts_[order.district];
    district.undelivered.push_back(order.total);
    std::uint32_t& oldest = district.lines[district.orders++ % kLatest];
    district.lines_sum += order.lines;
    district.lines_sum -= oldest;
    oldest = order.lines;
    ++placed_;
    return order;
}

std::int64_t Books::deliver_one_each() {
    std::int64_t value = 0;
    for (District& district : districts_) {
        if (district.undelivered.empty()) {
            continue;
        }
        value += district.undelivered.front();
        district.undelivered.pop_front();
        ++delivered_;
    }
    return value;
}

bool Books::new_orders(Batch batch, std::span<const std::int64_t> reply) {
    std::int64_t lines = 0;
    std::int64_t total = 0;
    for (std::uint32_t i = 0; i < batch.count; ++i) {
        const Order order = place(batch.first + i);
        lines += order.lines;
        total += order.total;
    }
    return is(reply, {placed_, lines, total, (lines + kOfOrder * batch.count) * kWidth});
}

bool Books::payments(Batch batch, std::span<const std::int64_t> reply) {
    for (std::uint32_t i = 0; i < batch.count; ++i) {
        received_ += payment(batch.first + i, sizes_);
    }
    paid_ += batch.count;
    return is(reply, {paid_, received_, kOfPayment * batch.count * kWidth});
}

/// The reply says which of those who asked was the last that had ordered something, and what: all that
/// follows from the order's reference.
bool Books::order_status(Batch batch, std::span<const std::int64_t> reply) const {
    if (reply.size() != 6) {
        return false;
    }
    const std::int64_t found = reply[0];
    if (found == 0) {
        return is(reply, {0, 0, 0, 0, 0, 0});
    }
    if (found < 0 || found > batch.count || reply[1] < found - 1 || reply[1] >= batch.count) {
        return false;
    }
    const Order order(static_cast<std::uint64_t>(reply[2]), sizes_);
    Draws draws(batch.first + static_cast<std::uint64_t>(reply[1]));
    const std::uint32_t district = draws.below(sizes_.districts);
    const std::uint32_t customer = draws.below(sizes_.customers);
    return order.district == district && order.customer == customer && reply[3] == order.lines &&
           reply[4] == order.total && shows(reply[5], found * (kOfOrder + 1));
}

bool Books::deliveries(Batch batch, std::span<const std::int64_t> reply) {
    std::int64_t value = 0;
    for (std::uint32_t i = 0; i < batch.count; ++i) {
        value += deliver_one_each();
    }
    return is(reply, {delivered_, value, (kOfDelivery + sizes_.districts) * batch.count * kWidth});
}

bool Books::stock_level(Batch batch, std::span<const std::int64_t> reply) const {
    std::int64_t lines = 0;
    for (std::uint32_t i = 0; i < batch.count; ++i) {
        const std::uint32_t district = Draws(batch.first + i).below(sizes_.districts);
        lines += static_cast<std::int64_t>(districts_[district].lines_sum);
    }
    return reply.size() == 3 && reply[0] == lines && reply[1] >= 0 && reply[1] <= lines &&
           reply[2] == kOfStockLevel * batch.count * kWidth;
}

bool Books::customer_report(Batch batch, std::span<const std::int64_t> reply) const {
    return is(reply, {placed_, delivered_, paid_, received_}, 1) && shows(reply[4], kOfReport * batch.count);
}

}  // namespace s80::loadgen::jbb
