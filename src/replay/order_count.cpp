// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/order_count.h"

#include <initializer_list>

namespace s80::replay {

namespace {

std::string key(std::initializer_list<std::string> words) {
    std::string all;
    for (const auto& w : words) {
        all += (all.empty() ? "" : ".") + w;
    }
    return all;
}

void put(std::string& out, const std::string& name, std::uint64_t n) {
    if (n != 0) {
        out += (out.size() == 1 ? "\"" : ", \"") + name + "\": " + std::to_string(n);
    }
}

}  // namespace

const char* bus_name(model::Bus bus) {
    constexpr std::array<const char*, model::kBusRequests + 1> kNames{"read", "rfo", "upgrade", "none"};
    return kNames[static_cast<unsigned>(bus)];
}

void Counts::add(const Effect& e) {
    const Place place = e.missed                                                        ? miss
                        : (e.kind == model::Kind::ifetch ? e.before.l1i : e.before.l1d) ? l1
                                                                                        : l2;
    ++access_[place][static_cast<unsigned>(e.kind)][e.before.state];
    // Exclusive caches: the access moved the line from the L2 to an L1. If the L2 did not have it, the line
    // came from the core's other L1, by way of the L2.
    if (place == l2 && !e.after.l2) {
        move_[l1_l2][e.before.state] += e.before.l2 ? 0 : 1;
        ++move_[e.kind == model::Kind::ifetch ? l2_l1i : l2_l1d][e.before.state];
    }
    const auto bus = static_cast<unsigned>(e.bus);
    if (e.bus != model::Bus::none) {
        ++request_[bus][e.before.state][e.supplier ? e.supplied_in : e.from_llc ? kLlc : kMemory];
        for (const Change& c : e.remote) {
            ++remote_[bus][c.before.state];
        }
    }
    if (e.missed) {
        ++fill_[bus][e.after.state];
    }
    for (const Change& c : e.moved) {
        evict_[c.before.state] += c.after.any() ? 0 : 1;
        move_[l1_l2][c.before.state] += !c.before.l2 && !c.after.l1() ? 1 : 0;
    }
    for (const AtHome& home : e.at_home) {
        const std::string name = key({"home", model::kHomeEventNames[static_cast<unsigned>(home.event)],
                                      protocol_.home_state(home.before).name});
        ++home_[name];
        for (const Change& copy : home.recalled) {
            ++home_[key({name, protocol_.state(copy.before.state).name})];
        }
    }
}

std::string Counts::json() const {
    std::string out = "{";
    constexpr std::array<const char*, 3> kPlaces{"l1", "l2", "miss"};
    constexpr std::array<const char*, 3> kMoves{"l1_l2", "l2_l1i", "l2_l1d"};
    const auto name = [&](unsigned s) { return protocol_.state(static_cast<model::State>(s)).name; };
    for (unsigned s = 0; s < protocol_.states(); ++s) {
        for (unsigned p = 0; p < kPlaces.size(); ++p) {
            for (unsigned k = 0; k < model::kKinds; ++k) {
                put(out, key({"access", kPlaces[p], std::string(model::kLabels<model::Kind>[k]), name(s)}),
                    access_[p][k][s]);
            }
        }
        for (unsigned b = 0; b < kBuses; ++b) {
            const std::string bus = bus_name(static_cast<model::Bus>(b));
            for (unsigned from = 0; from < protocol_.states(); ++from) {
                put(out, key({"request", bus, name(s), name(from)}), request_[b][s][from]);
            }
            put(out, key({"request", bus, name(s), "memory"}), request_[b][s][kMemory]);
            put(out, key({"request", bus, name(s), "llc"}), request_[b][s][kLlc]);
            put(out, key({"fill", bus, name(s)}), fill_[b][s]);
            put(out, key({"remote", bus, name(s)}), remote_[b][s]);
        }
        for (unsigned m = 0; m < kMoves.size(); ++m) {
            put(out, key({"move", kMoves[m], name(s)}), move_[m][s]);
        }
        put(out, key({"evict", name(s)}), evict_[s]);
    }
    for (const auto& [event, count] : home_) {
        put(out, event, count);
    }
    return out + "}";
}

}  // namespace s80::replay
