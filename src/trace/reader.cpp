// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/reader.h"
#include "base/core_set.h"

namespace s80::trace {

static_assert(BlockFile::kPadding >= Decoder::kPadding);

template <class Fn>
void Reader::parse(Fn&& fn) {
    try {
        fn();
    } catch (const Malformed& e) {
        file_.fail(std::string("is corrupt: a block ") + e.what(), taken_);
    }
}

Reader::Reader(const std::string& path) : file_(path) {
    read_end();
    read_header();
}

void Reader::read_end() {
    const std::array values{&totals_.epochs, &totals_.events, &totals_.accesses, &totals_.instructions,
                            &totals_.last};
    Cursor in(file_.read_end(values.size() * sizeof(std::uint64_t)));
    for (std::uint64_t* const value : values) {
        *value = in.take<std::uint64_t>();
    }
}

void Reader::read_header() {
    file_.rewind();
    file_.read(0);
    parse([&] {
        Cursor in(file_.contents());
        const auto form = in.take<std::uint32_t>();
        header_.form = static_cast<Form>(form);
        header_.processors = in.take<std::uint32_t>();
        header_.lines = in.take<std::uint64_t>();
        header_.machine = in.take_text();
        header_.protocol = in.take_text();
        header_.origin = in.take_text();
        if (file_.header().type != BlockType::header || form > static_cast<std::uint32_t>(Form::filtered) ||
            header_.processors == 0 || header_.processors > model::kWideCores ||
            header_.lines > model::kNoLine || in.left() != 0) {
            throw Malformed("does not describe a capture");
        }
    });
    if (header_.processors > model::kMaxCores) {
        throw model::TooManyCores("the capture is of a machine with " + std::to_string(header_.processors) +
                                  " processors, at most " + std::to_string(model::kMaxCores) +
                                  " are supported");
    }
    decoder_.emplace(header_.processors, header_.form == Form::filtered, header_.lines);
    next_block();
}

/// Reads the next block that has epochs. Returns false at the end record.
bool Reader::next_block() {
    if (ended_ || !file_.read(taken_)) {
        ended_ = true;
        if (taken_ != totals_.epochs || events_ != totals_.events) {
            file_.fail("is corrupt: its contents do not match its end record", taken_);
        }
        return false;
    }
    const BlockHeader& block = file_.header();
    parse([&] {
        if (block.type == BlockType::state && taken_ == 0 && header_.state.empty()) {
            header_.state.assign(file_.contents().begin(), file_.contents().end());
            return;
        }
        if (block.type != BlockType::epochs || block.first_epoch != taken_ || block.epochs == 0) {
            throw Malformed("is not the expected next block");
        }
        decoder_->begin(file_.contents());
        left_ = block.epochs;
    });
    return true;
}

bool Reader::next(model::Epoch& epoch) {
    while (left_ == 0) {
        if (!next_block()) {
            return false;
        }
    }
    parse([&] {
        decoder_->take(epoch);
        if (--left_ == 0) {
            decoder_->end();
        }
    });
    for (const model::Stream& stream : epoch.streams) {
        events_ += stream.size;
    }
    ++taken_;
    return true;
}

}  // namespace s80::trace
