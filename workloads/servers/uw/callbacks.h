// SPDX-License-Identifier: GPL-2.0-or-later
// Data that c-client passes to its callbacks. The library has one set of callbacks per process, so there is
// one record.
#pragma once

#include <string>
#include <vector>

namespace s80::uw {

struct Listed {
    std::string name;
    char delimiter;   // 0: none
    long attributes;  // LATT_ bits
};

struct Events {
    std::string error;                    // why something failed
    std::vector<Listed> listed;           // LIST
    std::vector<unsigned long> searched;  // SEARCH, in order
    // Of the selected mailbox, not yet told to the client:
    std::vector<unsigned long> expunged;  // as EXPUNGE counts: each in the numbers after those before it
    std::vector<unsigned long> flagged;   // messages whose flags have changed
    const void* selected = nullptr;       // its stream

    /// Returns the error and clears it; `otherwise` if there is none.
    std::string take_error(const char* otherwise);
};

Events& events();

}  // namespace s80::uw
