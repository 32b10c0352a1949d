// SPDX-License-Identifier: GPL-2.0-or-later
// protocol-check FILE...: one line a file, its states in the order of supply, or `refused` and why.
#include <iostream>
#include <span>

#include "coherence/protocol.h"

int main(int argc, char** argv) {
    for (const char* path : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
        try {
            const auto protocol = s80::model::Protocol::load(path);
            for (unsigned s = 0; s < protocol.states(); ++s) {
                std::cout << (s == 0 ? "" : " ") << protocol.state(static_cast<s80::model::State>(s)).name;
            }
            std::cout << '\n';
        } catch (const s80::model::Error& error) {
            std::cout << "refused " << error.what() << '\n';
        }
    }
}
