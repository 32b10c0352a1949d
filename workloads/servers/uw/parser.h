// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the tokens of IMAP (RFC 3501, section 9) in one command's text, from left to right.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace s80::uw {

/// The command is not valid IMAP. The text goes into the tagged BAD.
struct BadSyntax : std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::string upper(std::string_view text);

class Parser {
public:
    /// `text` must outlive the parser. It contains literals in the form of CommandReader.
    explicit Parser(std::string_view text) : text_(text) {}

    bool at_end() const { return at_ == text_.size(); }
    char peek() const { return at_end() ? '\0' : text_[at_]; }
    /// Takes `wanted` if it is the next character.
    bool take(char wanted);

    // The rest throws BadSyntax when something else is next.
    void expect(char wanted);
    void space() { expect(' '); }
    void end() const;

    std::string_view tag();
    std::string_view atom();
    /// An atom in capitals: command names, search keys.
    std::string keyword() { return upper(atom()); }
    /// An atom, a quoted string or a literal.
    std::string astring();
    /// A quoted string or a literal.
    std::string string();
    /// As astring, with the wildcards of LIST.
    std::string pattern();
    /// Message numbers or UIDs, for example "1:3,7,*". Only the form is checked.
    std::string_view sequence();
    unsigned long number();
    /// "(\Seen work)", or without brackets, as STORE allows.
    std::vector<std::string> flags();
    /// The name of a FETCH item, up to its "[" or its end.
    std::string fetch_name();

private:
    template <typename Allowed>
    std::string_view run(Allowed allowed, const char* what);
    std::string quoted();
    std::string literal();

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace s80::uw
