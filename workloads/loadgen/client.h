// SPDX-License-Identifier: GPL-2.0-or-later
// An emulated user of any protocol: it repeatedly thinks, draws a transaction, and performs it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "connection.h"
#include "random.h"
#include "task.h"
#include "timers.h"
#include "traffic.h"
#include "transaction_type.h"
#include "world.h"

namespace s80::loadgen {

class Client {
public:
    Client(World& world, unsigned index);
    virtual ~Client() = default;

    /// Logs in; then calls `logged_in` and waits for begin().
    void start(std::function<void()> logged_in);
    /// Starts the first think time. A random part of it has already passed.
    void begin();

    /// Adds the bytes of a connection that the client no longer needs.
    void done_with(const Connection& connection);

    World& world;
    const unsigned index;
    Random random;  // what a transaction is done to

protected:
    /// The client's name in messages.
    virtual std::string name() const;
    /// Everything before the first transaction. All failures in it are fatal.
    virtual Task log_in() = 0;
    /// Called before the first think time if the job differs from the login's. Throws Fatal if the client
    /// cannot perform it.
    virtual void take_up_job() {}
    /// Between the login and the first transaction, after the first think time.
    virtual Task set_out() { co_return; }
    /// The first think time in nanoseconds, from the begin of the load.
    virtual double first_think_ns();
    /// The pause between two transactions.
    virtual Task rest();
    virtual TransactionType draw();
    virtual TransactionType allowed(TransactionType drawn) = 0;
    virtual Task run(TransactionType type) = 0;
    /// Called after a transaction, successful or failed.
    virtual void settle(bool /*failed*/) {}
    /// Traffic of the connections that are still in use.
    virtual Traffic lasting() const { return {}; }
    void sleep_until(std::uint64_t due_ns) { world.timers.arm(think_, due_ns); }
    /// For a connection that the client needs at all times: if the server ends it while the client thinks,
    /// the next transaction begins, and reports the failure, at once.
    void watch(Connection& connection);

    Random decisions_;  // a script's waits: apart, so that they do not depend on what it does
    Timer think_;
    TransactionType drawn_ = 0;  // what the client does now or has done last

private:
    Task live(std::function<void()> logged_in);
    Task transact();
    void draw_from_seed();
    double draw_think_ns();
    void failed(const Failure& failure);
    Traffic traffic() const { return done_ + lasting(); }

    std::uint64_t think_begin_ns_ = 0;
    Traffic done_;  // of the connections that were done with
    bool first_ = true;
    bool begun_ = false;
    Task task_;
};

}  // namespace s80::loadgen
