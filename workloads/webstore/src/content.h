// SPDX-License-Identifier: GPL-2.0-or-later
// The contents that a web server serves. The contents of each file and page follow from its name, so the
// client can check them.
//
// Directories contain 36 files, nine in each of four classes: 100 to 900 bytes, and ten, a hundred and a
// thousand times that, 5 MB in all. Alternatively all files of a store have one size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace s80::webstore {

inline constexpr unsigned kClasses = 4;
inline constexpr unsigned kFilesOfClass = 9;
inline constexpr std::size_t kRecordBytes = 128;

struct File {
    unsigned directory;  // from 0
    unsigned size_class;
    unsigned number;           // 1 to kFilesOfClass
    std::size_t one_size = 0;  // bytes of every file of the store; 0: they are of classes

    std::size_t bytes() const;
    /// The path relative to the store: "files/d0007/c1_5".
    std::string path() const;
};

/// The endless text in which each file has its own place.
class Text {
public:
    explicit Text(const File& file);
    /// The record of `user`, of kRecordBytes bytes.
    explicit Text(unsigned user);

    std::size_t size() const { return size_; }
    /// The text from `at`, which is less than size(), or a first part of it; not empty.
    std::string_view from(std::size_t at) const;

private:
    std::uint64_t place_;
    std::size_t size_;
};

/// The beginning of a dynamic page, before the file that it shows to `user`.
std::string page_begin(unsigned user);
std::string page_end(const File& file);

}  // namespace s80::webstore
