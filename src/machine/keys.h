// SPDX-License-Identifier: GPL-2.0-or-later
// The keys of a machine file. Each part of the model reads the keys that it owns.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>

#include "base/types.h"

namespace s80::model {

class Keys {
public:
    /// No keys; `where` begins messages.
    explicit Keys(std::string where = "the machine") : where_(std::move(where)) {}
    /// Reads a TOML file, or text. Throws Error.
    static Keys load(const std::string& path);
    static Keys parse(const std::string& text, const std::string& where);

    /// Names the file in messages.
    const std::string& where() const { return where_; }
    /// Whether the file has the table.
    bool has_table(const std::string& table) const;

    bool is_text(const std::string& key) const;

    // A key is TABLE.NAME. All throw Error with file and key if it is missing, of the wrong type or out of
    // range.
    std::string text(const std::string& key) const;
    std::string text(const std::string& key, const std::string& otherwise) const;
    double real(const std::string& key) const;
    /// At most 32 bits; a larger number is refused instead of cut.
    unsigned number(const std::string& key) const;
    /// Of 64 bits, above 0.
    std::uint64_t positive(const std::string& key) const;

private:
    using Value = std::variant<std::monostate, std::int64_t, double, std::string>;
    template <class T>
    T need(const std::string& key) const;

    std::string where_;
    std::map<std::string, Value> values_;
};

/// The position of the word in a list; `name` gives the name of an element. Throws Error with `where`, the
/// key and the allowed names if the list does not have it.
template <class List, class Name = std::identity>
unsigned position(const List& list, const std::string& word, const std::string& where, const std::string& key,
                  Name name = {}) {
    std::string names;
    for (unsigned number = 0; number < list.size(); ++number) {
        const std::string one = std::invoke(name, list[number]);
        if (one == word) {
            return number;
        }
        names += (number == 0 ? "" : ", ") + one;
    }
    throw Error(where + ": " + key + " is '" + word + "'; allowed: " + names);
}

}  // namespace s80::model
