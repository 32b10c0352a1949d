// SPDX-License-Identifier: GPL-2.0-or-later
#include "web/body.h"

#include <algorithm>

namespace s80::loadgen {

namespace {

std::size_t size_of(const Body::Part& part) {
    return std::visit([](const auto& text) { return text.size(); }, part);
}

}  // namespace

Body::Body(std::vector<Part> parts) : parts_(std::move(parts)) {
    for (const Part& part : parts_) {
        size_ += size_of(part);
    }
}

bool Body::goes_on_with(std::string_view bytes) {
    while (!bytes.empty()) {
        while (part_ < parts_.size() && at_ == size_of(parts_[part_])) {
            ++part_;
            at_ = 0;
        }
        if (part_ == parts_.size()) {
            return false;
        }
        const std::string_view expected = next();
        const std::size_t both = std::min(expected.size(), bytes.size());
        if (expected.substr(0, both) != bytes.substr(0, both)) {
            return false;
        }
        bytes.remove_prefix(both);
        at_ += both;
    }
    return true;
}

std::string_view Body::next() const {
    if (const auto* text = std::get_if<webstore::Text>(&parts_[part_])) {
        return text->from(at_);
    }
    return std::string_view(std::get<std::string>(parts_[part_])).substr(at_);
}

}  // namespace s80::loadgen
