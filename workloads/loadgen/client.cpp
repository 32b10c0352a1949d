// SPDX-License-Identifier: GPL-2.0-or-later
#include "client.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "markers.hpp"
#include "output.hpp"
#include "transactions/transaction.hpp"

namespace s80::loadgen {

namespace {

constexpr std::string_view password = "secret";
constexpr std::size_t shortest_search_word = 4;

/// The longest word of the Subject line that can be searched for as it stands; empty without one.
std::string searchable_word(std::string_view header) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    constexpr std::string_view field = "\nSubject: ";
    std::size_t begin = header.starts_with(field.substr(1)) ? field.size() - 1 : header.find(field);
    if (begin == std::string_view::npos) return {};
    if (begin != field.size() - 1) begin += field.size();
    std::string_view line = header.substr(begin, header.find('\r', begin) - begin);
    if (line.find("=?") != std::string_view::npos) return {};  // encoded words
    std::string_view longest;
    while (!line.empty()) {
        const std::size_t length = std::min(line.find_first_not_of(letters), line.size());
        if (length > longest.size()) longest = line.substr(0, length);
        line.remove_prefix(std::min(std::max<std::size_t>(length, 1), line.size()));
    }
    return longest.size() < shortest_search_word ? std::string() : std::string(longest);
}

}  // namespace

Client::Client(World& the_world, unsigned the_index)
    : world(the_world),
      index(the_index),
      account(the_index % the_world.accounts.size()),
      imap(the_world.network) {
    draw_from_seed();
}

void Client::start(std::function<void()> logged_in) {
    task_ = live(std::move(logged_in));
    task_.start();
}

void Client::begin() {
    if (world.job.move == MoveMode::move && !imap.has_move()) {
        throw Fatal("job: move=move is not allowed: the server does not announce MOVE");
    }
    world.move = world.job.move != MoveMode::copy && imap.has_move() ? "MOVE" : "COPY+STORE+EXPUNGE";
    draw_from_seed();  // the job's, which is another than at the login
    // Exponential think times forget how long they have lasted.
    const double rest = world.job.think_constant ? decisions_.uniform() * draw_think_ns() : draw_think_ns();
    think_begin_ns_ = world.clock.now();
    world.timers.arm(think_, think_begin_ns_ + static_cast<std::uint64_t>(rest));
}

void Client::draw_from_seed() {
    random = Random(world.job.seed, 2 * std::uint64_t{index});
    decisions_ = Random(world.job.seed, 2 * std::uint64_t{index} + 1);
}

double Client::draw_think_ns() {
    const double mean_ns = world.job.think_ms * 1e6;
    return world.job.think_constant ? mean_ns : decisions_.exponential(mean_ns);
}

Task Client::live(std::function<void()> logged_in) {
    try {
        co_await log_in();
        logged_in();
        co_await think_;
        while (world.fatal.empty()) {
            co_await transact();
            if (!world.fatal.empty()) break;
            think_begin_ns_ = world.clock.now();
            world.timers.arm(think_, think_begin_ns_ + static_cast<std::uint64_t>(draw_think_ns()));
            co_await think_;
        }
    } catch (const Failure& failure) {  // while logging in: a run needs all its clients
        failed(Failure(failure.kind(), failure.what(), true));
    } catch (const std::exception& error) {
        world.give_up(error.what());
    }
}

Task Client::log_in() {
    co_await imap.log_in(world.servers.imap, world.tls, Accounts::user(account), password);
    co_await imap.command("LIST \"\" \"*\"");
    mailboxes.assign(imap.reply().listed);
    if (mailboxes.size() == 0) throw Failure(ErrorKind::missing, "LIST shows no mailbox", true);
    co_await select(random.below(mailboxes.size()));
    if (imap.messages() > 0) {
        const unsigned message = random_message();
        imap.want(message);
        co_await imap.command("FETCH " + std::to_string(message) + " BODY.PEEK[HEADER]");
        learn_subject(message, imap.reply().captured);
    }
    note_messages();
}

Task Client::select(std::size_t mailbox) {
    imap.remembered = 0;
    co_await imap.command("SELECT " + quoted(mailboxes[mailbox].name));
    mailboxes.select(mailbox);
}

void Client::note_messages() {
    mailboxes.selected().messages = imap.messages();
    if (mailboxes.selected().inbox()) world.accounts.inbox(account) = imap.messages();
}

void Client::learn_subject(unsigned message, std::string_view header) {
    std::string word = searchable_word(header);
    imap.remembered = word.empty() ? 0 : message;
    if (!word.empty()) subject_word = std::move(word);
}

Task Client::transact() {
    const std::uint64_t begin_ns = world.clock.now();
    world.statistics.thought(begin_ns - think_begin_ns_);
    drawn_ = std::exchange(first_, false) ? world.mix.first(decisions_) : world.mix.next(drawn_, decisions_);
    const TransactionType type = allowed(*this, drawn_);
    if (type != drawn_) world.statistics.substituted(drawn_);

    const std::uint64_t in_before = imap.bytes_in() + smtp_bytes_in;
    const std::uint64_t out_before = imap.bytes_out() + smtp_bytes_out;
    marker::transaction_begin(index_of(type), index);
    world.statistics.started(type, begin_ns);
    std::optional<Failure> failure;
    try {
        co_await transaction(type).run(*this);
    } catch (const Failure& caught) {
        failure = caught;
    }
    marker::transaction_end(index_of(type), index, failure.has_value());
    const std::uint64_t end_ns = world.clock.now();
    world.statistics.ended(type, begin_ns, end_ns, failure.has_value(),
                           imap.bytes_in() + smtp_bytes_in - in_before,
                           imap.bytes_out() + smtp_bytes_out - out_before);
    note_messages();
    if (world.trace) output::transaction(index, drawn_, type, end_ns - begin_ns);
    if (failure)
        failed(
            Failure(failure->kind(), std::string(name_of(type)) + ": " + failure->what(), failure->fatal()));
}

void Client::failed(const Failure& failure) {
    const std::string message =
        "client " + std::to_string(index) + " (" + Accounts::user(account) + "): " + failure.what();
    world.statistics.error(failure.kind(), message);
    if (failure.fatal()) world.give_up(message);
}

}  // namespace s80::loadgen
