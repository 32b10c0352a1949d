// SPDX-License-Identifier: GPL-2.0-or-later
// Layout of the file: a magic number, the geometry as text, arrays with their lengths before them, and a
// 64-bit FNV-1a checksum.
#include "checkpoint/state_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>

namespace s80::model {

namespace {

constexpr char kMagic[8] = {'S', '8', '0', 'S', 'T', 'A', 'T', '7'};

struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, Close>;

std::string geometry(const Hierarchy& h) {
    const Machine& m = h.machine();
    std::string text = h.protocol().name();
    for (const std::uint64_t v :
         {std::uint64_t{m.processors}, std::uint64_t{m.threads_per_core}, std::uint64_t{m.line_bytes},
          m.l1i.bytes, std::uint64_t{m.l1i.ways}, m.l1d.bytes, std::uint64_t{m.l1d.ways}, m.l2.bytes,
          std::uint64_t{m.l2.ways}, std::uint64_t{organisation_number(m)},
          static_cast<std::uint64_t>(m.policy)}) {
        text += ' ' + std::to_string(v);
    }
    if (m.group) {
        text += " group";
        for (const std::uint64_t v :
             {std::uint64_t{m.group->cores}, m.group->cache.bytes, std::uint64_t{m.group->cache.ways},
              static_cast<std::uint64_t>(m.group->policy)}) {
            text += ' ' + std::to_string(v);
        }
    }
    for (const auto& part : {m.llc, m.directory}) {
        if (part) {
            for (const std::uint64_t v :
                 {part->all.bytes, std::uint64_t{part->all.ways}, std::uint64_t{part->slices},
                  static_cast<std::uint64_t>(part->policy)}) {
                text += ' ' + std::to_string(v);
            }
        } else if (m.llc || m.directory) {
            text += " -";
        }
    }
    return text;
}

class Sum {
public:
    /// Adds eight bytes at a time, for speed: the arrays have tens of megabytes.
    void add(const void* data, std::size_t n) {
        const auto* p = static_cast<const unsigned char*>(data);
        for (; n >= 8; n -= 8, p += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, p, 8);
            value_ = (value_ ^ word) * 0x100000001b3U;
        }
        for (; n != 0; --n, ++p) {
            value_ = (value_ ^ *p) * 0x100000001b3U;
        }
    }
    std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0xcbf29ce484222325U;
};

class Writer {
public:
    Writer(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
    template <class T>
    void array(const T* data, std::size_t n) {
        const std::uint64_t count = n;
        raw(&count, sizeof count);
        raw(data, n * sizeof(T));
    }
    template <class List>
    void list(const List& v) {
        array(v.data(), v.size());
    }
    void finish() {
        const std::uint64_t sum = sum_.value();
        raw(&sum, sizeof sum);
        if (std::fflush(file_) != 0) {
            fail();
        }
    }

private:
    void raw(const void* data, std::size_t n) {
        sum_.add(data, n);
        if (std::fwrite(data, 1, n, file_) != n) {
            fail();
        }
    }
    [[noreturn]] void fail() const { throw Error("cannot write " + path_ + ": " + std::strerror(errno)); }
    std::string path_;
    std::FILE* file_;
    Sum sum_;
};

class Reader {
public:
    Reader(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
    /// Reads an array whose length only the file knows.
    template <class List>
    void list(List& v) {
        std::uint64_t count = 0;
        raw(&count, sizeof count);
        if (count > (1U << 26)) {
            fail("holds an array of another size");
        }
        v.resize(count);
        raw(v.data(), count * sizeof(v[0]));
    }
    /// Reads an array whose length the machine determines.
    template <class List>
    void fill(List&& v) {
        std::uint64_t count = 0;
        raw(&count, sizeof count);
        if (count != v.size()) {
            fail("holds an array of another size");
        }
        raw(v.data(), count * sizeof(v[0]));
    }
    void finish() {
        const std::uint64_t expected = sum_.value();
        std::uint64_t sum = 0;
        raw(&sum, sizeof sum);
        if (sum != expected || std::fgetc(file_) != EOF) {
            fail("is corrupt (its checksum does not match)");
        }
    }
    [[noreturn]] void fail(const char* what) const {
        throw Error("the model state " + path_ + " " + what + "; rebuild the warm checkpoint");
    }

private:
    void raw(void* data, std::size_t n) {
        if (std::fread(data, 1, n, file_) != n) {
            fail("is truncated");
        }
        sum_.add(data, n);
    }
    std::string path_;
    std::FILE* file_;
    Sum sum_;
};

}  // namespace

void save_state(const std::string& path, Hierarchy& hierarchy, const TimingMerger& merger,
                const Extra& extra) {
    const std::string partial = path + ".partial";
    File file(std::fopen(partial.c_str(), "wb"));
    if (!file) {
        throw Error("cannot write " + partial + ": " + std::strerror(errno));
    }
    Writer writer(partial, file.get());
    writer.array(kMagic, sizeof kMagic);
    writer.list(geometry(hierarchy));
    hierarchy.each_contents([&](std::span<std::byte> contents) { writer.list(contents); });
    writer.list(hierarchy.stats().all());
    writer.list(hierarchy.remembered());
    Extra words = merger.state();
    const Extra section = hierarchy.state();
    words.insert(words.end(), section.begin(), section.end());
    writer.list(words);
    writer.list(extra);
    writer.finish();
    file.reset();
    std::filesystem::rename(partial, path);
}

Extra load_state(const std::string& path, Hierarchy& hierarchy, TimingMerger& merger) {
    File file(std::fopen(path.c_str(), "rb"));
    if (!file) {
        throw Error("cannot read " + path + ": " + std::strerror(errno));
    }
    Reader reader(path, file.get());
    std::string magic(sizeof kMagic, '\0');
    reader.fill(magic);
    if (std::memcmp(magic.data(), kMagic, sizeof kMagic) != 0) {
        reader.fail("is not a model state of this version");
    }
    const std::string expected = geometry(hierarchy);
    std::string found;
    reader.list(found);
    if (found != expected) {
        throw Error("the model state " + path + " is of another machine or protocol (" + found +
                    " instead of " + expected + ")");
    }
    hierarchy.each_contents([&](std::span<std::byte> contents) { reader.fill(contents); });
    reader.fill(hierarchy.stats().all());
    std::vector<Line> remembered;
    reader.list(remembered);
    Extra words;  // those of the timing merger, and after them those of the hierarchy
    reader.list(words);
    Extra extra;
    reader.list(extra);
    reader.finish();
    try {
        hierarchy.set_state(merger.set_state(words));
    } catch (const Error& e) {
        reader.fail(e.what());
    }
    hierarchy.rebuild_sharers(remembered);
    return extra;
}

}  // namespace s80::model
