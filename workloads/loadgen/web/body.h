// SPDX-License-Identifier: GPL-2.0-or-later
// The body that a reply must have, compared with what comes as it comes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "content.h"

namespace s80::loadgen {

class Body {
public:
    using Part = std::variant<std::string, webstore::Text>;

    Body() = default;
    explicit Body(std::vector<Part> parts);

    std::size_t size() const { return size_; }
    /// Whether the next bytes are the next that must come.
    bool goes_on_with(std::string_view bytes);

private:
    std::string_view next() const;

    std::vector<Part> parts_;
    std::size_t size_ = 0;
    std::size_t part_ = 0;
    std::size_t at_ = 0;  // in the part
};

}  // namespace s80::loadgen
