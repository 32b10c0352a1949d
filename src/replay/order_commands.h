// SPDX-License-Identifier: GPL-2.0-or-later
// The commands of s80-step and s80-order, and the form of the command line that both programs have.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace s80::replay {

/// The words KEY=VALUE of a command line.
class Options {
public:
    /// Throws model::Error if a word has no =, if its key is not in `allowed`, or if a key occurs twice.
    Options(const std::vector<std::string>& words, const std::vector<std::string>& allowed);

    /// The value of a key that the user must give. Throws model::Error if it is missing.
    const std::string& need(const std::string& key) const;
    /// The value of a key; `otherwise` if the user did not give it.
    std::string text(const std::string& key, const std::string& otherwise) const;
    /// The same as a number. Throws model::Error if the value is not a whole number.
    std::uint64_t number(const std::string& key, std::uint64_t otherwise) const;

private:
    std::map<std::string, std::string> values_;
};

/// A command of a program: its name, the function that executes it, and the keys that it accepts. The
/// function throws model::Error with a message for the user.
struct Command {
    const char* name;
    void (*run)(const Options&);
    std::vector<std::string> keys;
};

/// Executes the command that the first word of the command line names. Returns the exit code of the program;
/// an error is printed as one line on stderr. `program`: its name, for messages.
int run_program(const char* program, const std::vector<Command>& commands, int argc, char** argv);

// Commands of s80-order, about captures and totally ordered traces (order_capture.cpp).
void export_order(const Options& options);  ///< writes the accesses of a full capture as a trace
/// Writes a trace as a full capture; counted=1: a tick is an instruction.
void import_order(const Options& options);
void capture_info(const Options& options);  ///< prints the header of a capture as JSON

// Commands of s80-step, which plays a totally ordered trace one access after the other (order_step.cpp).
void step_order(const Options& options);   ///< prints the effect of each access as a line of JSON
void print_machine_keys(const Options&);   ///< prints scripts/s80lab/config/machine_keys.json
void count_order(const Options& options);  ///< prints counts by protocol state as JSON (Counts::json)
void print_vocabulary(const Options&);     ///< prints scripts/s80lab/base/vocabulary.json

}  // namespace s80::replay
