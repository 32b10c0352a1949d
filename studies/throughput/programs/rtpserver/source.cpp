// SPDX-License-Identifier: GPL-2.0-or-later
#include "source.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <vector>

namespace s80::rtp {

namespace {

/// Reads a part of a file from its begin to its end.
class Reader {
public:
    explicit Reader(const Part& part)
        : part_(part),
          file_(open(part.path.c_str(), O_RDONLY | O_CLOEXEC)),
          at_(part.first * part.packet_bytes),
          end_(at_ + part.count * part.packet_bytes) {
        if (file_ < 0) {
            fail(std::strerror(errno));
        }
    }
    ~Reader() { close(file_); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    std::size_t packet_bytes() const { return part_.packet_bytes; }
    std::size_t buffer_bytes() const { return kPacketsABuffer * part_.packet_bytes; }
    bool at_end() const { return at_ == end_; }

    /// Reads on until the buffer is full or the part is read; how many bytes came.
    std::size_t fill(std::span<char> buffer) {
        const std::size_t wanted = std::min(buffer.size(), end_ - at_);
        for (std::size_t done = 0; done < wanted;) {
            const ssize_t got = pread(file_, &buffer[done], wanted - done, static_cast<off_t>(at_ + done));
            if (got == 0) {
                fail("it has become shorter");
            }
            if (got < 0 && errno != EINTR) {
                fail(std::strerror(errno));
            }
            if (got > 0) {
                done += static_cast<std::size_t>(got);
            }
        }
        at_ += wanted;
        return wanted;
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        throw std::runtime_error(part_.path + " cannot be read: " + why);
    }

    Part part_;
    int file_;
    std::size_t at_;
    std::size_t end_;
};

/// Takes so many bytes off the begin of what is left.
std::span<const char> taken(std::span<const char>& left, std::size_t count) {
    const std::span<const char> first = left.first(count);
    left = left.subspan(count);
    return first;
}

class SingleBuffered final : public Source {
public:
    explicit SingleBuffered(const Part& part) : reader_(part), buffer_(reader_.buffer_bytes()) {}

    std::span<const char> next() override {
        if (left_.empty()) {
            left_ = std::span(buffer_).first(reader_.fill(buffer_));
        }
        return taken(left_, reader_.packet_bytes());
    }

private:
    Reader reader_;
    std::vector<char> buffer_;
    std::span<const char> left_;
};

/// The reader's thread fills one buffer while the sender's empties the other. Semaphores count the buffers
/// that wait on each side; the sender begins with one, which it has emptied.
class DoubleBuffered final : public Source {
public:
    explicit DoubleBuffered(const Part& part) : reader_(part) {
        for (Buffer& buffer : buffers_) {
            buffer.bytes.resize(reader_.buffer_bytes());
        }
        thread_ = std::thread([this] { read(); });
    }
    ~DoubleBuffered() override {
        ended_ = true;
        to_fill_.release();
        thread_.join();
    }

    std::span<const char> next() override {
        if (left_.empty()) {
            to_fill_.release();
            to_send_.acquire();
            emptied_ = 1 - emptied_;
            if (error_) {
                std::rethrow_exception(error_);
            }
            left_ = std::span(buffers_[emptied_].bytes).first(buffers_[emptied_].filled);
        }
        return taken(left_, reader_.packet_bytes());
    }

private:
    struct Buffer {
        std::vector<char> bytes;
        std::size_t filled = 0;
    };

    void read() {
        pthread_setname_np(pthread_self(), "rtp-read");
        for (std::size_t next = 0; !reader_.at_end() && !error_; next = 1 - next) {
            to_fill_.acquire();
            if (ended_) {
                return;
            }
            try {
                buffers_[next].filled = reader_.fill(buffers_[next].bytes);
            } catch (const std::exception&) {
                error_ = std::current_exception();
            }
            to_send_.release();
        }
    }

    Reader reader_;
    std::array<Buffer, 2> buffers_;
    std::counting_semaphore<3> to_fill_{1};  // two, and one more that ends any wait
    std::counting_semaphore<2> to_send_{0};
    std::exception_ptr error_;  // of the reader, which then reads no more
    std::atomic<bool> ended_ = false;
    std::size_t emptied_ = 1;
    std::span<const char> left_;
    std::thread thread_;
};

}  // namespace

std::unique_ptr<Source> open_source(const Part& part, unsigned buffers) {
    if (buffers == 1) {
        return std::make_unique<SingleBuffered>(part);
    }
    return std::make_unique<DoubleBuffered>(part);
}

}  // namespace s80::rtp
