// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/writer.h"

#include <cerrno>
#include <cstring>
#include <numeric>

namespace s80::trace {

namespace {

/// Size of the columns at which a block is written. Smaller blocks compress worse.
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

Bytes head(const Header& header) {
    Bytes out;
    put(out, static_cast<std::uint32_t>(header.form));
    put(out, static_cast<std::uint32_t>(header.processors));
    put(out, header.lines);
    put_text(out, header.machine);
    put_text(out, header.protocol);
    put_text(out, header.origin);
    return out;
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

template <class Array>
std::uint64_t sum(const Array& values) {
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

}  // namespace

Writer::Writer(const std::string& path, const Header& header)
    : file_(path), encoder_(header.processors, header.form == Form::filtered) {
    if (!file_.created()) {
        fail();
    }
    const Preamble preamble{kSignature, kVersion, 0};
    put_raw(&preamble, sizeof preamble);
    put_block(BlockType::header, 0, 0, head(header));
    if (!header.state.empty()) {
        put_block(BlockType::state, 0, 0, bytes_of(header.state));
    }
}

void Writer::write(const model::Epoch& epoch) {
    encoder_.add(epoch);
    ++totals_.epochs;
    totals_.last = epoch.instructions;
    for (const model::Stream& stream : epoch.streams) {
        totals_.events += stream.ran ? stream.size : 0;
        totals_.instructions += sum(stream.instructions);
        for (const auto& kinds : stream.accesses) {
            totals_.accesses += sum(kinds);
        }
    }
    if (encoder_.bytes() >= kBlockBytes) {
        flush();
    }
}

void Writer::flush() {
    const std::uint32_t epochs = encoder_.epochs();
    if (epochs != 0) {
        put_block(BlockType::epochs, epochs, totals_.epochs - epochs, encoder_.finish());
    }
}

void Writer::close() {
    if (encoder_.pending()) {
        throw model::Error("the last epoch of the capture " + file_.path() +
                           " has no mark, so its counts would be lost");
    }
    flush();
    Bytes out;
    for (const std::uint64_t v :
         {totals_.epochs, totals_.events, totals_.accesses, totals_.instructions, totals_.last}) {
        put(out, v);
    }
    put_block(BlockType::end, 0, totals_.epochs, out);
    if (!file_.close()) {
        fail();
    }
    if (!file_.take_name()) {
        throw model::Error("cannot rename " + file_.partial() + " to " + file_.path() + ": " +
                           std::strerror(errno));
    }
}

void Writer::put_block(BlockType type, std::uint32_t epochs, std::uint64_t first,
                       std::span<const std::uint8_t> raw) {
    if (raw.size() > kLargestBlock) {
        throw model::Error("an epoch is too large for the capture " + file_.path());
    }
    // The end record has a fixed size, without compression, so that a reader finds it from the end of the
    // file.
    const auto stored = type == BlockType::end ? raw : compressor_.compress(raw);
    BlockHeader header{type,
                       epochs,
                       first,
                       static_cast<std::uint32_t>(raw.size()),
                       static_cast<std::uint32_t>(stored.size()),
                       0};
    header.sum = block_sum(header, stored);
    put_raw(&header, sizeof header);
    put_raw(stored.data(), stored.size());
}

void Writer::put_raw(const void* data, std::size_t n) {
    if (!file_.write(data, n)) {
        fail();
    }
    bytes_ += n;
}

void Writer::fail() const {
    throw model::Error("cannot write the capture " + file_.partial() + ": " + std::strerror(errno));
}

}  // namespace s80::trace
