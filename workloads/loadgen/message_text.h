// SPDX-License-Identifier: GPL-2.0-or-later
// Sizes and text of the messages that the clients and the external mail server send.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "random.h"

namespace s80::loadgen {

/// The size of a message in bytes, from a uniform draw: one of the five sizes in a study of an e-mail server,
/// with its share (the paper states none).
std::size_t message_size(double uniform);

class MessageText {
public:
    MessageText();

    /// A message from one address to another, of about `size` bytes (within a line), ready for DATA.
    std::string compose(Random& random, const std::string& from, const std::string& to,
                        std::size_t size) const;

private:
    std::string lines_;                // filler, twice the longest message
    std::vector<std::size_t> starts_;  // of its lines
};

}  // namespace s80::loadgen
