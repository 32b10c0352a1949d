// SPDX-License-Identifier: GPL-2.0-or-later
#include "web/web_client.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace s80::loadgen {

namespace {

/// SPECweb99's shares of its classes of files.
unsigned draw_class(Random& random) {
    const double drawn = random.uniform();
    return drawn < 0.35 ? 0 : drawn < 0.85 ? 1 : drawn < 0.99 ? 2 : 3;
}

/// A directory; one of double the number is asked for half as often (Zipf's law, by its integral).
unsigned draw_directory(Random& random, unsigned directories) {
    const double drawn = std::exp(random.uniform() * std::log1p(static_cast<double>(directories)));
    return std::min(static_cast<unsigned>(drawn), directories) - 1;
}

}  // namespace

Task WebClient::log_in() {
    connect();
    co_await session_->read("/size");
    if (std::sscanf(session_->text().c_str(), "%u %u %zu", &directories_, &users_, &one_size_) != 3 ||
        directories_ == 0 || users_ == 0) {
        throw Failure(ErrorKind::missing,
                      "/size does not say how many directories and users there are, and the files' size",
                      true);
    }
}

void WebClient::connect() {
    session_.emplace(world.network, world.servers.of(web_protocol), world.tls_of_job());
    draw_life();
}

void WebClient::draw_life() {
    left_ = 1 + static_cast<unsigned>(random.below(world.job.requests_max));
}

webstore::File WebClient::draw_file() {
    const unsigned directory = draw_directory(random, directories_);
    const unsigned size_class = draw_class(random);
    const auto number = 1 + static_cast<unsigned>(random.below(webstore::kFilesOfClass));
    return {directory, size_class, number, one_size_};
}

Task WebClient::get_file() {
    const webstore::File file = draw_file();
    return get("/" + file.path(), Body({webstore::Text(file)}));
}

Task WebClient::get_page() {
    const webstore::File file = draw_file();
    const auto user = static_cast<unsigned>(random.below(users_));
    std::string query = std::to_string(file.directory) + "." + std::to_string(file.size_class) + "." +
                        std::to_string(file.number) + "." + std::to_string(user);
    return get("/page?" + query, Body({webstore::page_begin(user), webstore::Text(user), webstore::Text(file),
                                       webstore::page_end(file)}));
}

Task WebClient::get(std::string path, Body expected) {
    if (!session_) {
        connect();
    }
    --left_;
    co_await session_->get(std::move(path), std::move(expected), left_ == 0);
    if (left_ == 0 || session_->closing()) {
        done_with(*session_);
        session_.reset();
    }
}

void WebClient::settle(bool failed) {
    if (!failed || !session_) {
        return;
    }
    done_with(*session_);  // what is left of the reply is not read
    session_.reset();
}

}  // namespace s80::loadgen
