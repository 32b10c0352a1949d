// SPDX-License-Identifier: GPL-2.0-or-later
#include "command_reader.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "parser.h"

namespace s80::uw {

namespace {

/// The size that a line's final "{SIZE}" announces; false without one.
bool announces_literal(std::string_view line, std::size_t& size) {
    if (!line.ends_with('}')) {
        return false;
    }
    const std::size_t open = line.rfind('{');
    if (open == std::string_view::npos) {
        return false;
    }
    const char* last = line.data() + line.size() - 1;
    const auto [end, error] = std::from_chars(line.data() + open + 1, last, size);
    // A number that does not fit is a literal too, and too long.
    if (error == std::errc::result_out_of_range) {
        size = std::string_view::npos;
    }
    return end == last && end != line.data() + open + 1 && error != std::errc::invalid_argument;
}

bool is_append(std::string_view text) {
    const std::size_t space = std::min(text.find(' '), text.size());
    return upper(text.substr(space, 8)) == " APPEND ";
}

}  // namespace

CommandReader::Result CommandReader::next(std::string& text) {
    text.clear();
    std::size_t literals = 0;
    for (;;) {
        if (!append_line(text)) {
            return Result::line_too_long;
        }
        std::size_t size = 0;
        if (!announces_literal(text, size)) {
            return Result::command;
        }
        const std::size_t most = is_append(text) ? limits_.message : limits_.literal;
        if (size > most || literals + size > most) {
            return Result::literal_too_long;
        }
        literals += size;
        stream_.write("+ go ahead\r\n");
        stream_.flush();
        append_bytes(text, size);
    }
}

bool CommandReader::append_line(std::string& text) {
    std::size_t taken = 0;
    bool fits = true;
    for (;;) {
        const std::size_t newline = buffer_.find('\n', at_);
        const std::size_t end = newline == std::string::npos ? buffer_.size() : newline;
        taken += end - at_;
        fits = fits && taken <= limits_.line;
        if (fits) {
            text.append(buffer_, at_, end - at_);
        }
        at_ = end;
        if (newline != std::string::npos) {
            break;
        }
        more();
    }
    ++at_;
    if (fits && text.ends_with('\r')) {
        text.pop_back();
    }
    return fits;
}

void CommandReader::append_bytes(std::string& text, std::size_t count) {
    while (count > 0) {
        if (at_ == buffer_.size()) {
            more();
        }
        const std::size_t part = std::min(count, buffer_.size() - at_);
        text.append(buffer_, at_, part);
        at_ += part;
        count -= part;
    }
}

void CommandReader::more() {
    constexpr std::size_t kChunk = 16 * 1024;
    buffer_.resize(kChunk);
    at_ = 0;
    buffer_.resize(stream_.read(buffer_));
}

}  // namespace s80::uw
