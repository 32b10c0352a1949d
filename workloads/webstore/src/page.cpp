// SPDX-License-Identifier: GPL-2.0-or-later
// s80-page: a dynamic page as a CGI program (RFC 3875). It looks up a user's record and shows it with a file
// of the store. The query is DIRECTORY.CLASS.NUMBER.USER; the store is the folder $S80_WEBSTORE.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "content.h"

using namespace s80::webstore;

namespace {

/// So many bytes of a file from `at`, appended.
bool append(std::string& page, const std::string& path, std::size_t at, std::size_t bytes) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    const std::size_t before = page.size();
    page.resize(before + bytes);
    std::size_t got = 0;
    while (got < bytes) {
        const ssize_t n = pread(fd, &page[before + got], bytes - got, static_cast<off_t>(at + got));
        if (n <= 0) {
            break;
        }
        got += static_cast<std::size_t>(n);
    }
    close(fd);
    return got == bytes;
}

/// Of a file; 0 where there is none.
std::size_t bytes_of(const std::string& path) {
    struct stat found {};
    return stat(path.c_str(), &found) == 0 ? static_cast<std::size_t>(found.st_size) : 0;
}

bool put(std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = write(STDOUT_FILENO, text.data(), text.size());
        if (n <= 0) {
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

}  // namespace

int main() {
    const char* const query = std::getenv("QUERY_STRING");
    const char* const store = std::getenv("S80_WEBSTORE");
    File file{};
    unsigned user = 0;
    char more = 0;
    const bool asked = query != nullptr && store != nullptr &&
                       std::sscanf(query, "%4u.%1u.%1u.%4u%c", &file.directory, &file.size_class,
                                   &file.number, &user, &more) == 4 &&
                       file.size_class < kClasses && file.number >= 1;
    std::string page = page_begin(user);
    const std::string root = store == nullptr ? "" : std::string(store) + "/";
    if (!asked || !append(page, root + "records", user * kRecordBytes, kRecordBytes) ||
        !append(page, root + file.path(), 0, bytes_of(root + file.path()))) {
        return put("Status: 404 Not Found\r\nContent-Length: 0\r\n\r\n") ? 0 : 1;
    }
    page += page_end(file);
    const std::string head =
        "Content-Type: text/html\r\nContent-Length: " + std::to_string(page.size()) + "\r\n\r\n";
    return put(head) && put(page) ? 0 : 1;
}
