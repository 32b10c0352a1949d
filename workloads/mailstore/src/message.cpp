// SPDX-License-Identifier: GPL-2.0-or-later
#include "message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

namespace s80::mailstore {

namespace {

constexpr std::size_t kPlainLimit = 3 * 1024;
constexpr std::size_t kHtmlLimit = 16 * 1024;
constexpr std::size_t kPartOverhead = 400;  // boundaries and headers of the parts, about
constexpr std::size_t kKeywordPadding = 72;
constexpr auto kDomains = std::to_array<std::string_view>(
    {"s80.example", "mail.example", "lists.example", "research.example", "office.example"});

std::string decimal(std::uint64_t value) {
    return std::to_string(value);
}

std::string hex(std::uint64_t value) {
    std::array<char, 16> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
    return {digits.data(), end};
}

std::string formatted(const char* format, std::int64_t time) {
    const std::time_t seconds = time;
    std::tm fields{};
    gmtime_r(&seconds, &fields);
    std::array<char, 64> text;
    return {text.data(), std::strftime(text.data(), text.size(), format, &fields)};
}

std::string subject(Random& random) {
    std::string text = random.below(3) == 0 ? "Re: " : "";
    for (std::uint32_t left = 2 + random.below(5); left > 0; --left) {
        text.append(word(random)).append(left > 1 ? " " : "");
    }
    return text;
}

/// What the mail server itself keeps in an mbox header, as Dovecot writes it: with these it need not rewrite
/// the file at the first SELECT; the spaces behind X-Keywords are its room for changed flags. Content-Length
/// is left out: older servers do not write it, and with it the search for "From " lines, which the paper
/// found so costly, would be skipped.
void append_status(std::string& out, const Position& position, Random& random) {
    if (position.uid == 1) {
        const std::string last = decimal(position.last_uid);
        out.append("X-IMAPbase: ").append(decimal(position.uid_validity)).append(" ");
        out.append(10 - last.size(), '0').append(last).append("\n");
    }
    out.append("X-UID: ").append(decimal(position.uid)).append("\n");
    out.append(random.below(4) == 0 ? "Status: O\n" : "Status: RO\n");
    out.append("X-Keywords:").append(kKeywordPadding, ' ').append("\n");
}

void append_header(std::string& out, const Position& position, Random& random) {
    const auto given = given_name(random);
    const auto family = family_name(random);
    const auto domain = kDomains[random.below(kDomains.size())];
    std::string sender;
    sender.append(given).append(".").append(family).append("@").append(domain);
    const std::string date = formatted("%a, %d %b %Y %H:%M:%S +0000", position.time);
    const std::string id = hex(random.bits());

    out.append("From ").append(sender).append(formatted(" %a %b %e %H:%M:%S %Y\n", position.time));
    out.append("Return-Path: <").append(sender).append(">\n");
    out.append("Received: from relay.").append(domain).append(" (relay.").append(domain);
    out.append(" [192.0.2.").append(decimal(1 + random.below(254))).append("])\n");
    out.append("\tby mail.s80.example with ESMTP id ").append(id, 0, 8);
    out.append("\n\tfor <").append(position.user).append("@s80.example>; ").append(date);
    out.append("\nMessage-ID: <").append(id).append("@").append(domain).append(">\n");
    out.append("Date: ").append(date);
    out.append("\nFrom: ").append(given).append(" ").append(family);
    out.append(" <").append(sender).append(">\nTo: ");
    out.append(position.user).append("@s80.example\n");
    out.append("Subject: ").append(subject(random)).append("\nMIME-Version: 1.0\n");
    append_status(out, position, random);
}

constexpr std::string_view kTextPart =
    "Content-Type: text/plain; charset=us-ascii\nContent-Transfer-Encoding: 7bit\n\n";
constexpr std::string_view kHtmlPart =
    "Content-Type: text/html; charset=us-ascii\nContent-Transfer-Encoding: 7bit\n\n";

void append_alternative(std::string& out, std::size_t bytes, const Pools& pools, Random& random) {
    const std::string boundary = "=_alt_" + hex(random.bits());
    out.append("Content-Type: multipart/alternative; boundary=\"").append(boundary);
    out.append("\"\n\n--").append(boundary).append("\n").append(kTextPart);
    pools.prose.append(out, bytes * 2 / 5, random);
    out.append("\n--").append(boundary).append("\n").append(kHtmlPart);
    out.append("<html><body>\n<p>\n");
    pools.prose.append(out, bytes * 3 / 5, random);
    out.append("</p>\n</body></html>\n\n--").append(boundary).append("--\n");
}

void append_attachment(std::string& out, std::size_t bytes, const Pools& pools, Random& random) {
    const std::string boundary = "=_mix_" + hex(random.bits());
    const std::size_t text = std::min<std::size_t>(bytes / 10, 600);
    out.append("Content-Type: multipart/mixed; boundary=\"").append(boundary);
    out.append("\"\n\n--").append(boundary).append("\n").append(kTextPart);
    pools.prose.append(out, text, random);
    out.append("\n--").append(boundary).append("\nContent-Type: application/octet-stream; name=\"");
    const auto name = word(random);
    out.append(name).append(".dat\"\nContent-Transfer-Encoding: base64\n");
    out.append("Content-Disposition: attachment; filename=\"").append(name).append(".dat\"\n\n");
    pools.base64.append(out, bytes - text, random);
    out.append("\n--").append(boundary).append("--\n");
}

}  // namespace

void append_message(std::string& out, std::size_t bytes, const Position& position, const Pools& pools,
                    Random& random) {
    const std::size_t begin = out.size();
    append_header(out, position, random);
    const std::size_t header = out.size() - begin;
    const std::size_t body = bytes > header + kPartOverhead ? bytes - header : kPartOverhead;
    if (bytes < kPlainLimit) {
        out.append(kTextPart);
        pools.prose.append(out, body - kTextPart.size(), random);
    } else if (bytes < kHtmlLimit) {
        append_alternative(out, body - kPartOverhead, pools, random);
    } else {
        append_attachment(out, body - kPartOverhead, pools, random);
    }
    out.append("\n");
}

}  // namespace s80::mailstore
