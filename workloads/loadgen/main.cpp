// SPDX-License-Identifier: GPL-2.0-or-later
// s80-loadgen: emulates the users of a server. In a QEMU guest it takes its job from fw_cfg, in a gem5 guest
// from gem5's readfile. On a host it takes the job from a file and runs against any server of the job's
// protocol.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpus.h"
#include "failure.h"
#include "fwcfg.h"
#include "load.h"
#include "m5ops.h"
#include "markers.h"
#include "output.h"

using namespace s80::loadgen;

namespace {

constexpr const char* kUsage =
    "usage: s80-loadgen --guest [--gem5] [--smtp IPV4:PORT]... [--mail-log FILE]\n"
    "       s80-loadgen --job FILE --imap|--pop3|--web|--jbb|--rtp|--route|--probe IPV4:PORT "
    "[--smtp IPV4:PORT]... [--mail-log FILE] [--insecure] [--trace]\n";

constexpr const char* kJobFile = "opt/s80lab/job";
constexpr useconds_t kPollUs = 20'000;

struct Options {
    bool guest = false;
    bool gem5 = false;
    bool insecure = false;
    bool trace = false;
    std::string job;
    std::map<const Protocol*, std::string> servers;  // where they are not in the usual place
    std::vector<std::string> smtp;
    std::string mail_log;  // OpenSMTPD's; empty: its queue is not counted
};

std::optional<Options> parse_options(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view option = argv[i];
        const Protocol* protocol = option.starts_with("--") ? find_protocol(option.substr(2)) : nullptr;
        if (option == "--smtp" && i + 1 < argc) {
            options.smtp.emplace_back(argv[++i]);
        } else if (option == "--mail-log" && i + 1 < argc) {
            options.mail_log = argv[++i];
        } else if (option == "--job" && i + 1 < argc) {
            options.job = argv[++i];
        } else if (protocol != nullptr && !protocol->server.empty() && i + 1 < argc) {
            options.servers[protocol] = argv[++i];
        } else if (option == "--guest") {
            options.guest = options.insecure = true;  // the guest made its certificate itself
        } else if (option == "--gem5") {
            options.gem5 = true;
        } else if (option == "--insecure") {
            options.insecure = true;
        } else if (option == "--trace") {
            options.trace = true;
        } else {
            return std::nullopt;
        }
    }
    if (options.smtp.empty()) {
        options.smtp = {"127.0.0.1:25"};
    }
    if (options.guest != options.job.empty() || (options.gem5 && !options.guest)) {
        return std::nullopt;
    }
    return options;
}

std::string read_file(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        throw Fatal("the job file " + path + " cannot be read");
    }
    return std::string(std::istreambuf_iterator<char>(file), {});
}

/// What the simulator offers its guest now: the job's text, if there is one.
using Offer = std::function<std::optional<std::string>()>;

Offer offer_of(const Options& options) {
    if (options.gem5) {
        return m5::read_file;
    }
    return [fw_cfg = FwCfg()]() mutable { return fw_cfg.read(kJobFile); };
}

/// Waits until the host offers a job. It is read until two readings agree: a guest that was saved in the
/// middle of one and restored with another job has read a mixture of both.
Job await_job(const Offer& offer) {
    std::optional<std::string> last;
    for (;;) {
        auto text = offer();
        if (text && text == last) {
            return parse_job(*text);
        }
        last = std::move(text);
        if (!last) {
            usleep(kPollUs);
        }
    }
}

/// Waits, with the clients logged in, until the host of a restored guest offers a job that does not
/// hold.
Job await_go(const Offer& offer) {
    if (marker::in_gem5()) {
        m5::checkpoint();
    }
    for (;;) {
        Job job = await_job(offer);
        if (!job.hold) {
            return job;
        }
        usleep(kPollUs);
    }
}

/// A static program sorts the unwinder's tables of all its functions when it throws for the first time: tens
/// of millions of instructions that belong before the load.
void prepare_to_throw() {
    try {
        throw Fatal("nothing");
    } catch (const Fatal&) {
    }
}

Servers servers_of(const Options& options, const Job& job) {
    Servers servers;
    for (const Protocol* protocol : protocols()) {
        if (protocol->server.empty()) {
            continue;
        }
        const auto given = options.servers.find(protocol);
        const std::string_view usual =
            job.tls || protocol->plain.empty() ? protocol->server : protocol->plain;
        servers.by_protocol[protocol] =
            parse_endpoint(given == options.servers.end() ? usual : given->second);
    }
    for (const std::string& address : options.smtp) {
        servers.smtp.push_back(parse_endpoint(address));
    }
    return servers;
}

/// Whether the load ran to its end without a single error.
bool generate(const Options& options) {
    const Offer offer = options.guest ? offer_of(options) : Offer();
    const Job job = options.guest ? await_job(offer) : parse_job(read_file(options.job));
    if (!options.guest) {
        if (job.hold) {
            throw Fatal("job: hold=1 is not allowed: only a guest is saved and restored");
        }
        require_phases(job);
    }
    output::job(job);

    Clock clock(options.guest ? "guest" : "host");
    World world(clock, servers_of(options, job), !options.insecure, job);
    world.trace = options.trace;
    if (!options.mail_log.empty()) {
        world.mail_queue.emplace(options.mail_log);
    }
    prepare_to_throw();
    PhasePage page;
    // It stands for machines of their own: a client that has a reply does not wait for a processor of the
    // server's.
    if (options.guest) {
        run_before_others();
    }
    Load load(world, page);
    load.log_in();
    if (world.fatal.empty()) {
        output::ready();
    }
    if (job.hold && world.fatal.empty()) {
        load.take(await_go(offer));
    }
    if (options.guest) {
        // Only now: the plugin that answers belongs to the QEMU that brought the job.
        marker::bind_cores();
        marker::account_to(marker::Class::load_generator);
        page.offer();
    }
    load.run();
    if (!world.fatal.empty()) {
        throw Fatal(world.fatal);
    }
    return world.statistics.all_errors() == 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::optional<Options> options = parse_options(argc, argv);
    if (!options) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN);
    if (options->gem5) {
        marker::use_gem5();
    }
    try {
        const bool good = generate(*options);
        while (options->guest) {
            pause();  // the host ends the guest when it has the result
        }
        return good ? 0 : 1;
    } catch (const Fatal& fatal) {
        output::error(fatal.what());
        std::fprintf(stderr, "s80-loadgen: %s\n", fatal.what());
        if (options->guest) {
            marker::fail();
        }
        return 1;
    }
}
