// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a file that gets its name only when it is complete.
#pragma once
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace s80::model {

/// The file is named PATH.partial until take_name(). If take_name() is never called, the destructor removes
/// the file. A function that returns false has failed; errno says why.
class PartialFile {
public:
    explicit PartialFile(std::string path)
        : path_(std::move(path)), partial_(path_ + ".partial"), file_(std::fopen(partial_.c_str(), "wb")) {}
    ~PartialFile() {
        if (created_ && !named_) {
            file_.reset();
            std::remove(partial_.c_str());
        }
    }
    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;

    const std::string& path() const { return path_; }
    /// The name of the file until it is complete.
    const std::string& partial() const { return partial_; }
    bool created() const { return created_; }
    bool write(const void* data, std::size_t bytes) {
        return std::fwrite(data, 1, bytes, file_.get()) == bytes;
    }
    /// Closes the file. Call it after everything has been written.
    bool close() { return std::fclose(file_.release()) == 0; }
    /// Gives the file its name PATH. Call it after close().
    bool take_name() {
        named_ = std::rename(partial_.c_str(), path_.c_str()) == 0;
        return named_;
    }

private:
    struct Close {
        void operator()(std::FILE* f) const { std::fclose(f); }
    };
    const std::string path_;
    const std::string partial_;
    std::unique_ptr<std::FILE, Close> file_;
    const bool created_ = file_ != nullptr;
    bool named_ = false;
};

}  // namespace s80::model
