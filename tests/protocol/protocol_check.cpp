// SPDX-License-Identifier: GPL-2.0-or-later
// protocol-check FILE...: one line a file, its states in the order of supply and what its home does, or
// `refused` and why.
#include <array>
#include <iostream>
#include <span>

#include "coherence/protocol.h"

namespace {

using namespace s80::model;

constexpr std::array<const char*, kHomeEvents> kEvents{
    "read", "fetch", "rfo", "upgrade", "put.sharer", "put.exclusive", "put.owner", "displace", "recall"};

/// `read.X=SS,SSD,SS,SSD+supply`: the next states alone and shared, each clean and dirty, then what else it
/// does.
void print_cell(const Protocol& protocol, unsigned event, HomeState state) {
    const HomeCell& cell = protocol.home(static_cast<HomeEvent>(event), state);
    if (!cell.possible) {
        return;
    }
    std::cout << ' ' << kEvents[event] << '.' << protocol.home_state(state).name << '=';
    for (unsigned n = 0; n < 4; ++n) {
        std::cout << (n == 0 ? "" : ",") << protocol.home_state(cell.after(n >= 2, n % 2 == 1)).name;
    }
    std::cout << (cell.supply ? "+supply" : "") << (cell.first ? "+first" : "")
              << (cell.grants_shared ? "+grants" : "") << (cell.writeback ? "+writeback" : "")
              << (cell.recall ? "+recall" : "") << (cell.gives ? "+" + protocol.state(cell.given).name : "");
}

void print_home(const Protocol& protocol) {
    constexpr std::array<const char*, 3> copies{"none", "one", "any"};
    for (unsigned h = 0; h < protocol.home_states(); ++h) {
        const HomeStateInfo& info = protocol.home_state(static_cast<HomeState>(h));
        std::cout << ' ' << info.name << ':' << copies[static_cast<unsigned>(info.copies)]
                  << (info.data ? ":data" : "") << (info.dirty ? ":dirty" : "")
                  << (h == protocol.home_absent() ? ":absent" : "");
    }
    for (unsigned event = 0; event < kHomeEvents; ++event) {
        for (unsigned h = 0; h < protocol.home_states(); ++h) {
            print_cell(protocol, event, static_cast<HomeState>(h));
        }
    }
    for (unsigned s = 0; s < protocol.states(); ++s) {
        const auto state = static_cast<State>(s);
        std::cout << (protocol.own(OwnEvent::evict, state).put ? " put." + protocol.state(state).name : "");
        if (protocol.recalls() && protocol.recalled(state).possible) {
            std::cout << " recalled." << protocol.state(state).name << '='
                      << protocol.state(protocol.recalled(state).next).name
                      << (protocol.recalled(state).writeback ? "+writeback" : "");
        }
    }
    std::cout << (protocol.has_llc() ? " llc" : "") << (protocol.directory_recalls() ? " recalls" : "")
              << (protocol.bus_suffices() ? " bus" : "");
}

}  // namespace

int main(int argc, char** argv) {
    for (const char* path : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
        try {
            const auto protocol = Protocol::load(path);
            for (unsigned s = 0; s < protocol.states(); ++s) {
                std::cout << (s == 0 ? "" : " ") << protocol.state(static_cast<State>(s)).name;
            }
            if (protocol.has_home()) {
                print_home(protocol);
            }
            std::cout << '\n';
        } catch (const Error& error) {
            std::cout << "refused " << error.what() << '\n';
        }
    }
}
