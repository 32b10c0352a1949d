// SPDX-License-Identifier: GPL-2.0-or-later
// A user of a web server: one connection at a time, kept for a number of requests.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "client.h"
#include "web/session.h"

namespace s80::loadgen {

class WebClient final : public Client {
public:
    using Client::Client;

    // For the transactions:
    Task get_file();
    Task get_page();

private:
    /// Asks for the size of the store.
    Task log_in() override;
    void take_up_job() override { draw_life(); }
    TransactionType allowed(TransactionType drawn) override { return drawn; }
    Task run(TransactionType type) override;
    void settle(bool failed) override;
    Traffic lasting() const override { return session_ ? session_->traffic() : Traffic{}; }

    void connect();
    void draw_life();
    webstore::File draw_file();
    Task get(std::string path, Body expected);

    std::optional<HttpSession> session_;
    unsigned left_ = 0;  // requests until the connection is closed
    unsigned directories_ = 0;
    unsigned users_ = 0;
    std::size_t one_size_ = 0;  // of the store's files; 0: they are of classes
};

}  // namespace s80::loadgen
