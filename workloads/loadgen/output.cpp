// SPDX-License-Identifier: GPL-2.0-or-later
#include "output.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <string>

namespace s80::loadgen::output {

namespace {

void print(std::string line) {
    line += '\n';
    std::string_view rest = line;
    while (!rest.empty()) {
        const ssize_t written = write(STDOUT_FILENO, rest.data(), rest.size());
        if (written <= 0) {
            return;
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
}

std::string text(std::string_view value) {
    std::string quoted = "\"";
    for (const char c : value) {
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (c >= 0 && c < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
            quoted += code;
        } else {
            quoted += c >= 0 && c < 0x7f ? c : '?';  // a server's bytes need not be UTF-8
        }
    }
    return quoted + '"';
}

std::string number(std::uint64_t value) {
    return std::to_string(value);
}

/// The shortest form that reads back as the same number.
std::string number(double value) {
    char digits[40];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    return std::string(digits, end);
}

template <typename Value>
void field(std::string& object, std::string_view key, const Value& value) {
    object += object.ends_with('{') ? "\"" : ",\"";
    object.append(key).append("\":").append(value);
}

std::string latency(const Histogram& histogram) {
    std::string object = "{";
    field(object, "mean", number(histogram.mean()));
    field(object, "p50", number(histogram.percentile(50)));
    field(object, "p90", number(histogram.percentile(90)));
    field(object, "p95", number(histogram.percentile(95)));
    field(object, "p99", number(histogram.percentile(99)));
    field(object, "max", number(histogram.max()));
    return object + "}";
}

std::string buckets(const Histogram& histogram) {
    std::string list = "[";
    for (const Histogram::Bucket& bucket : histogram.buckets()) {
        if (list.size() > 1) {
            list += ',';
        }
        list += "[" + number(bucket.upper_ns) + "," + number(bucket.count) + "]";
    }
    return list + "]";
}

/// bodies: whether its replies have any.
std::string type(const TypeStatistics& statistics, bool bodies) {
    std::string object = "{";
    field(object, "count", number(statistics.count));
    field(object, "started", number(statistics.started));
    field(object, "failed", number(statistics.failed));
    field(object, "substituted", number(statistics.substituted));
    field(object, "bytes_in", number(statistics.traffic.in));
    field(object, "bytes_out", number(statistics.traffic.out));
    if (bodies) {
        field(object, "body_bytes", number(statistics.traffic.body));
    }
    field(object, "latency_ns", latency(statistics.latency));
    field(object, "histogram", buckets(statistics.latency));
    return object + "}";
}

std::string commands(const Region& region) {
    std::string list = "[";
    for (const auto& [command, latencies] : region.commands) {
        const auto& [protocol, name, bytes] = command;
        std::string object = "{";
        field(object, "protocol", text(protocol));
        field(object, "command", text(name));
        if (bytes != 0) {
            field(object, "bytes", number(std::uint64_t{bytes}));
        }
        field(object, "count", number(latencies.count()));
        field(object, "latency_ns", latency(latencies));
        field(object, "histogram", buckets(latencies));
        list.append(list.size() > 1 ? "," : "").append(object + "}");
    }
    return list + "]";
}

std::string streams(const StreamStatistics& statistics) {
    std::string object = "{";
    field(object, "packets", number(statistics.packets));
    field(object, "bytes", number(statistics.bytes));
    field(object, "lost", number(statistics.lost));
    field(object, "late", number(statistics.late));
    field(object, "transit_ns", latency(statistics.transit));
    field(object, "transit_histogram", buckets(statistics.transit));
    field(object, "jitter_ns", latency(statistics.jitter));
    field(object, "jitter_histogram", buckets(statistics.jitter));
    return object + "}";
}

double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

/// Of the scripts that are open.
std::string arrivals(const World& world) {
    std::string all = "{";
    for (std::size_t i = 0; i < world.job.scripts.size(); ++i) {
        if (!world.job.scripts[i].open()) {
            continue;
        }
        const ArrivalStatistics& arrived = world.statistics.region().arrivals[i];
        std::string object = "{";
        field(object, "count", number(arrived.count));
        field(object, "queued", number(arrived.queued));
        field(object, "waiting", number(world.statistics.waiting(i)));
        field(object, "wait_ns_mean",
              number(ratio(static_cast<double>(arrived.wait_ns), static_cast<double>(arrived.unqueued))));
        field(all, world.job.scripts[i].name, object + "}");
    }
    return all + "}";
}

std::string mail_queue(const MailQueue& queue) {
    const MailCounts& counts = queue.counts();
    std::string object = "{";
    field(object, "looks", number(queue.looks()));
    field(object, "mean", number(queue.mean()));
    field(object, "begin", number(queue.begin()));
    field(object, "end", number(queue.length()));
    field(object, "accepted_in_region", number(queue.accepted()));
    field(object, "accepted", number(counts.accepted));
    field(object, "delivered", number(counts.delivered));
    field(object, "put_off", number(counts.put_off));
    field(object, "refused", number(counts.refused));
    return object + "}";
}

std::string totals(const Region& region) {
    std::uint64_t count = 0;
    double response_ns = 0;
    for (const TypeStatistics& statistics : region.types) {
        count += statistics.count;
        response_ns += static_cast<double>(statistics.latency.sum());
    }
    const auto duration_ns = static_cast<double>(region.end_ns - region.begin_ns);
    const auto all = static_cast<double>(count);
    std::string object = "{";
    field(object, "count", number(count));
    field(object, "throughput_per_s", number(ratio(all * static_cast<double>(kNsPerS), duration_ns)));
    field(object, "response_ns_mean", number(ratio(response_ns, all)));
    field(object, "think_ns_mean",
          number(ratio(static_cast<double>(region.think_ns), static_cast<double>(region.thinks))));
    field(object, "in_flight_mean", number(ratio(static_cast<double>(region.in_flight_ns), duration_ns)));
    return object + "}";
}

std::string event(std::string_view name) {
    return "{\"event\":" + text(name);
}

void job_fields(std::string& object, const Job& job) {
    field(object, "mix", text(job.mix));
    field(object, "seed", number(job.seed));
    field(object, "driver", text(!job.scripts.empty() ? "scripts" : job.chain ? "chain" : "independent"));
    field(object, "clients", number(std::uint64_t{job.clients}));
    field(object, "think_ms", number(job.think_ms));
    if (job.protocol == &probe_protocol) {
        field(object, "batch", number(std::uint64_t{job.batch}));
    }
}

}  // namespace

void ready() {
    print(event("ready") + "}");
}

void job(const Job& job) {
    std::string line = event("job");
    job_fields(line, job);
    print(line + "}");
}

void load_begin(std::uint64_t clock_ns) {
    std::string line = event("load_begin");
    field(line, "clock_ns", number(clock_ns));
    print(line + "}");
}

void error(std::string_view message) {
    std::string line = event("error");
    field(line, "message", text(message));
    print(line + "}");
}

void transaction(const Client& client, TransactionType drawn, TransactionType type,
                 std::uint64_t latency_ns) {
    const auto& names = client.world.job.transactions;
    std::string line = event("transaction");
    field(line, "client", number(std::uint64_t{client.index}));
    field(line, "drawn", text(names[drawn]));
    field(line, "type", text(names[type]));
    field(line, "latency_ns", number(latency_ns));
    print(line + "}");
}

void result(const World& world) {
    const Statistics& statistics = world.statistics;
    const Region& region = statistics.region();
    std::string line = event("result");
    field(line, "schema", number(std::uint64_t{1}));
    job_fields(line, world.job);
    field(line, "clock", text(world.clock.name()));
    field(line, "region",
          "{\"begin_ns\":" + number(region.begin_ns) + ",\"end_ns\":" + number(region.end_ns) + "}");
    if (!world.move.empty()) {
        field(line, "move", text(world.move));
    }
    std::string errors = "{";
    for (std::size_t kind = 0; kind < kErrorKinds; ++kind) {
        field(errors, kErrors[kind], number(statistics.errors(kind)));
    }
    field(line, "errors", errors + "}");
    field(line, "first_error", text(statistics.first_error()));
    if (!world.move.empty() || !world.job.scripts.empty()) {
        field(line, "lost_flags", number(region.lost_flags));
    }
    field(line, "incoming",
          "{\"messages\":" + number(region.incoming_messages) +
              ",\"bytes\":" + number(region.incoming_bytes) + "}");
    field(line, "loop",
          "{\"wake_ups\":" + number(region.wake_ups) + ",\"idle_wake_ups\":" + number(region.idle_wake_ups) +
              "}");
    std::string types = "{";
    for (std::size_t i = 0; i < region.types.size(); ++i) {
        field(types, world.job.transactions[i], type(region.types[i], world.job.protocol == &web_protocol));
    }
    field(line, "transactions", types + "}");
    if (!world.job.scripts.empty()) {
        field(line, "arrivals", arrivals(world));
        field(line, "commands", commands(region));
    }
    if (world.job.protocol == &rtp_protocol) {
        field(line, "streams", streams(region.streams));
    }
    if (world.mail_queue) {
        field(line, "mail_queue", mail_queue(*world.mail_queue));
    }
    field(line, "totals", totals(region));
    print(line + "}");
}

}  // namespace s80::loadgen::output
