// SPDX-License-Identifier: GPL-2.0-or-later
#include "turn_bound.hpp"

#include <sys/io.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string>

#include "failure.hpp"
#include "registers.hpp"

namespace s80::loadgen {

namespace {

constexpr double pit_hz = 1'193'182;

constexpr unsigned short channel0_port = 0x40;
constexpr unsigned short command_port = 0x43;
// channel 0, low byte then high byte, binary
constexpr unsigned char once = 0x30;         // mode 0, as Linux leaves it: runs out once
constexpr unsigned char square_wave = 0x36;  // mode 3: the output changes after each half of the period

constexpr std::uint64_t io_apic = 0xfec00000;
constexpr unsigned select_register = 0x00;
constexpr unsigned window_register = 0x10;
constexpr std::uint32_t first_redirection = 0x10;
constexpr std::uint32_t masked = 1U << 16;
constexpr std::uint32_t pit_pin = 2;  // of the I/O APIC of a PC

void mask_interrupt() {
    Registers registers(io_apic);
    registers.write(select_register, first_redirection + 2 * pit_pin);
    registers.write(window_register, registers.read(window_register) | masked);
}

void start(unsigned char command, std::uint16_t count) {
    if (iopl(3) != 0) {
        throw Fatal(std::string("no access to the I/O ports of the interval timer: ") + std::strerror(errno));
    }
    outb(command, command_port);
    outb(static_cast<unsigned char>(count & 0xff), channel0_port);
    outb(static_cast<unsigned char>(count >> 8), channel0_port);
}

}  // namespace

std::uint16_t pit_count(unsigned turn_instructions, unsigned processors) {
    const double half_period_ns = static_cast<double>(turn_instructions) * processors;
    return static_cast<std::uint16_t>(
        std::clamp(std::round(2 * half_period_ns * pit_hz / 1e9), 2.0, 65535.0));
}

void bound_turns(unsigned turn_instructions) {
    if (turn_instructions == 0) {
        start(once, 0);
        return;
    }
    mask_interrupt();
    start(square_wave, pit_count(turn_instructions, static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN))));
}

}  // namespace s80::loadgen
