// SPDX-License-Identifier: GPL-2.0-or-later
// The values of a machine file. Each part of the model declares its own keys (base/key.h) and reads their
// values here.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "base/key.h"
#include "base/types.h"

namespace s80::model {

class Keys {
public:
    /// No values. `where`: name of the file, for messages.
    explicit Keys(std::string where = "the machine") : where_(std::move(where)) {}
    /// Reads a TOML file, or the text of one. `where`: names the file in messages. Throws Error.
    static Keys load(const std::string& path);
    static Keys parse(const std::string& text, const std::string& where);

    /// Names the file in messages.
    const std::string& where() const { return where_; }
    /// Whether the file has the table.
    bool has_table(const std::string& table) const;

    // The value of a declared key, or its default if the file lacks the key. All throw Error with file and
    // key if the file must have the key and lacks it, or if the value is of the wrong type or out of range.
    unsigned number(const Key& key) const;
    std::uint64_t wide(const Key& key) const;  ///< a number or size of more than 32 bits
    double real(const Key& key) const;
    /// A number, or a text such as "1.5x", which is that multiple of `of` (Key::most_multiple).
    std::uint64_t multiple(const Key& key, std::uint64_t of) const;
    /// The position of the name in the key's list.
    unsigned choice(const Key& key) const;

    /// The text of a key that has no list of names.
    std::string text(const std::string& key) const;
    std::string text(const std::string& key, const std::string& otherwise) const;

private:
    using Value = std::variant<std::monostate, std::int64_t, double, std::string>;
    [[noreturn]] void refuse(const Key& key, const std::string& value, const std::string& remedy) const;
    template <class T>
    T ranged(const Key& key, const char* kind) const;
    void check_limits(const Key& key, double number, const std::string& value) const;

    std::string where_;
    std::map<std::string, Value> values_;
};

/// The position of the word in the key's list of names. Throws Error with `where`, the key and the names if
/// the list does not have it.
unsigned position(const Key& key, const std::string& word, const std::string& where);

}  // namespace s80::model
