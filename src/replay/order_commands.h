// SPDX-License-Identifier: GPL-2.0-or-later
// The command line that s80-step and s80-order share, and their commands.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace s80::replay {

/// key=value words of the command line.
class Options {
public:
    /// Throws model::Error for a word without =, a key that is not `allowed`, or a repeated key.
    Options(const std::vector<std::string>& words, const std::vector<std::string>& allowed);

    /// Throws model::Error if the key was not given.
    const std::string& need(const std::string& key) const;
    std::string text(const std::string& key, const std::string& otherwise) const;
    /// Throws model::Error if the value is not a whole number.
    std::uint64_t number(const std::string& key, std::uint64_t otherwise) const;

private:
    std::map<std::string, std::string> values_;
};

/// One command of a program, with the keys that it accepts. `run` throws model::Error with a message for the
/// user.
struct Command {
    const char* name;
    void (*run)(const Options&);
    std::vector<std::string> keys;
};

/// Runs the command that the first word names. Prints an error as one line on stderr and returns the exit
/// code.
int run_program(const char* program, const std::vector<Command>& commands, int argc, char** argv);

// s80-order: captures and totally ordered traces (order_capture.cpp).
void export_order(const Options& options);  ///< writes the accesses of a full capture as an ordered trace
void import_order(const Options& options);  ///< writes an ordered trace as a full capture; counted=1: ticks
                                            ///< are instructions
void capture_info(const Options& options);  ///< prints a capture's header as JSON

// s80-step: plays a totally ordered trace, one access after the other (order_step.cpp).
void step_order(const Options& options);   ///< prints one JSON line per access
void print_machine_keys(const Options&);   ///< prints scripts/s80lab/config/machine_keys.json
void count_order(const Options& options);  ///< prints counts by state (Counts::json)
void print_vocabulary(const Options&);     ///< prints scripts/s80lab/results/vocabulary.json

}  // namespace s80::replay
