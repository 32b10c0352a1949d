// SPDX-License-Identifier: GPL-2.0-or-later
// The client's knowledge of its mailboxes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "random.h"

namespace s80::loadgen {

struct Mailbox {
    std::string name;
    unsigned messages = 0;  // as far as the client has seen: 0 for one that was never selected
    bool created = false;   // by this workload, not part of the mail store

    bool inbox() const;
};

/// The name as an IMAP quoted string; as a literal if it contains line ends.
std::string quoted(const std::string& name);

/// The mailboxes of a client, one of which is selected.
class Mailboxes {
public:
    void assign(const std::vector<std::string>& names);

    std::size_t size() const { return boxes_.size(); }
    Mailbox& operator[](std::size_t index) { return boxes_[index]; }
    std::size_t selected_index() const { return selected_; }
    Mailbox& selected() { return boxes_[selected_]; }
    void select(std::size_t index) { selected_ = index; }

    void add(std::string name) { boxes_.push_back({std::move(name), 0, true}); }
    void remove(std::size_t index);

    /// An unused name. `created` is as in Mailbox; the beginning of the name encodes it.
    std::string fresh_name(Random& random, bool created) const;

    /// Mailboxes that can be deleted or renamed: neither the INBOX nor the selected one.
    std::vector<std::size_t> movable() const;
    /// Mailboxes into which a message can be put: not the selected one, and with fewer than `limit` messages.
    std::vector<std::size_t> targets(unsigned limit) const;

private:
    std::vector<Mailbox> boxes_;
    std::size_t selected_ = 0;
};

}  // namespace s80::loadgen
