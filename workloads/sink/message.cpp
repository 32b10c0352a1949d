// SPDX-License-Identifier: GPL-2.0-or-later
#include "message.h"

#include "split_mix.h"

namespace s80::route {

Content::Content() : text_(kMostBytes + kWindows, '\0'), sums_(1, 0) {
    std::uint64_t state = 0;
    sums_.reserve(text_.size() + 1);
    for (char& c : text_) {
        c = static_cast<char>(split_mix(state) >> 56);
        sums_.push_back(sums_.back() + static_cast<unsigned char>(c));
    }
}

}  // namespace s80::route
