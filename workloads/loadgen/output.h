// SPDX-License-Identifier: GPL-2.0-or-later
// The output of the load generator: JSON, one object per line (docs/reference/interfaces/README.md, section
// 4).
#pragma once

#include <cstdint>
#include <string_view>

#include "client.h"
#include "transaction_type.h"
#include "world.h"

namespace s80::loadgen::output {

void ready();
void job(const Job& job);
void load_begin(std::uint64_t clock_ns);
void error(std::string_view message);
void transaction(const Client& client, TransactionType drawn, TransactionType type, std::uint64_t latency_ns);
void result(const World& world);

}  // namespace s80::loadgen::output
