// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/block_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace s80::trace {

BlockFile::BlockFile(const std::string& path) : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat info {};
    if (file_ < 0 || fstat(file_, &info) != 0) {
        throw model::Error("cannot read the capture " + path + ": " + std::strerror(errno));
    }
    try {
        if (!S_ISREG(info.st_mode)) {
            throw model::Error("cannot read the capture " + path + ": it is not a file");
        }
        size_ = static_cast<std::uint64_t>(info.st_size);
        Preamble preamble;
        if (size_ >= sizeof preamble) {
            read_at(0, &preamble, sizeof preamble);
        }
        if (preamble.signature != kSignature) {
            throw model::Error(path + " is not a capture: it does not begin with the signature");
        }
        if (preamble.version != kVersion) {
            throw model::Error("the capture " + path + " has version " + std::to_string(preamble.version) +
                               " of the format, and this program reads version " + std::to_string(kVersion) +
                               ": record the capture again");
        }
        rewind();
    } catch (...) {
        close(file_);
        throw;
    }
}

BlockFile::~BlockFile() {
    close(file_);
}

void BlockFile::fail(const std::string& what, std::uint64_t epoch) const {
    throw model::Error("the capture " + path_ + ' ' + what + " (byte " + std::to_string(block_at_) +
                       ", epoch " + std::to_string(epoch) + ")");
}

void BlockFile::read_at(std::uint64_t at, void* data, std::size_t n) const {
    auto* to = static_cast<std::uint8_t*>(data);
    while (n != 0) {
        const ssize_t got = pread(file_, to, n, static_cast<off_t>(at));
        if (got <= 0) {
            throw model::Error("cannot read the capture " + path_ + " at byte " + std::to_string(at) + ": " +
                               (got == 0 ? "it has become shorter" : std::strerror(errno)));
        }
        to += got;
        at += static_cast<std::uint64_t>(got);
        n -= static_cast<std::size_t>(got);
    }
}

void BlockFile::rewind() {
    next_at_ = sizeof(Preamble);
}

/// The end record is the last block and has a fixed size. A file without one is truncated.
std::span<const std::uint8_t> BlockFile::read_end(std::size_t size) {
    const std::size_t block = sizeof(BlockHeader) + size;
    block_at_ = size_;
    if (size_ < sizeof(Preamble) + block) {
        fail("is truncated: it has no end record", 0);
    }
    block_at_ = size_ - block;
    read_at(block_at_, &header_, sizeof header_);
    if (header_.type != BlockType::end || header_.stored != size) {
        block_at_ = size_;
        fail("is truncated: it has no end record", 0);
    }
    read_block(block_at_, 0);
    return contents_;
}

bool BlockFile::read(std::uint64_t epoch) {
    read_block(next_at_, epoch);
    next_at_ = block_at_ + sizeof header_ + header_.stored;
    if (header_.type == BlockType::end && next_at_ != size_) {
        fail("has data after its end record", epoch);
    }
    return header_.type != BlockType::end;
}

void BlockFile::read_block(std::uint64_t at, std::uint64_t epoch) {
    block_at_ = at;
    if (size_ - at < sizeof header_) {
        fail("is truncated", epoch);
    }
    read_at(at, &header_, sizeof header_);
    if (header_.stored > size_ - at - sizeof header_) {
        fail("is truncated or corrupt: a block extends beyond its end", epoch);
    }
    stored_.resize(header_.stored);
    read_at(at + sizeof header_, stored_.data(), stored_.size());
    if (block_sum(header_, stored_) != header_.sum || header_.raw > kLargestBlock) {
        fail("is corrupt: the checksum of a block does not match", epoch);
    }
    if (header_.type == BlockType::end) {
        contents_ = stored_;
        return;
    }
    try {
        raw_.resize(header_.raw + kPadding);
        contents_ = {raw_.data(), header_.raw};
        decompressor_.decompress(stored_, {raw_.data(), header_.raw});
    } catch (const Malformed& e) {
        fail(std::string("is corrupt: a block ") + e.what(), epoch);
    }
}

}  // namespace s80::trace
