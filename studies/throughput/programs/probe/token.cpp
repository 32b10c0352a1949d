// SPDX-License-Identifier: GPL-2.0-or-later
#include "token.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace s80::probe {

namespace {

void must(bool good, const char* what) {
    if (!good) {
        throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
    }
}

}  // namespace

Pipe::Pipe() {
    must(pipe(ends_.data()) == 0, "a pipe");
}

Pipe::~Pipe() {
    close_reading();
    close_writing();
}

void Pipe::close_end(std::size_t end) {
    if (ends_[end] >= 0) {
        close(ends_[end]);
    }
    ends_[end] = -1;
}

void Pipe::put(std::uint64_t token) {
    must(write(ends_[1], &token, sizeof token) == sizeof token, "the token is not taken");
}

bool Pipe::take(std::uint64_t& token) {
    return read(ends_[0], &token, sizeof token) == sizeof token;
}

Pair::Pair(Shape shape) : block_(shape) {
    const pid_t child = fork();
    must(child >= 0, "no second process");
    if (child > 0) {
        there_.close_reading();
        back_.close_writing();
        return;
    }
    there_.close_writing();
    back_.close_reading();
    const WalkBlock own(shape);  // not the parent's, whose pages it would share
    std::uint64_t token = 0;
    while (there_.take(token)) {
        back_.put(token + own.walk());
    }
    std::_Exit(EXIT_SUCCESS);
}

std::uint64_t Pair::pass(std::size_t walks) {
    std::uint64_t token = 0;
    for (std::size_t done = 0; done < walks; done += 2) {
        there_.put(token + block_.walk());
        must(back_.take(token), "the second process is gone");
    }
    return token;
}

std::uint64_t Pair::keep(std::size_t walks) {
    std::uint64_t token = 0;
    for (std::size_t done = 0; done < walks; ++done) {
        own_.put(token + block_.walk());
        must(own_.take(token), "a pipe");
    }
    return token;
}

}  // namespace s80::probe
