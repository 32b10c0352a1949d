// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace s80::test {

/// A file of its own that goes away with the test.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& text = "") {
        std::string name = (std::filesystem::temp_directory_path() / "s80-test-XXXXXX").string();
        const int fd = mkstemp(name.data());
        if (fd < 0) {
            throw std::runtime_error("no temporary file");
        }
        close(fd);
        path_ = name;
        write(text);
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::string& path() const { return path_; }
    void write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
    std::string read() const { return read_file(path_); }
    static std::string read_file(const std::string& path) {
        std::ostringstream out;
        out << std::ifstream(path, std::ios::binary).rdbuf();
        return out.str();
    }

private:
    std::string path_;
};

inline std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const auto at = text.find(what);
    if (at == std::string::npos) {
        throw std::runtime_error("the text to replace is not there: " + what);
    }
    return text.replace(at, what.size(), with);
}

}  // namespace s80::test
