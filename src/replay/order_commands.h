// SPDX-License-Identifier: GPL-2.0-or-later
// The commands of s80-order. Each throws model::Error, a sentence for the user.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace s80::replay {

/// key=value words of the command line.
class Options {
public:
    /// Throws model::Error for a word without =, a key that is not `allowed`, or one given twice.
    Options(const std::vector<std::string>& words, const std::vector<std::string>& allowed);

    /// Throws model::Error when it was not given.
    const std::string& need(const std::string& key) const;
    std::string text(const std::string& key, const std::string& otherwise) const;
    /// Throws model::Error when it is no whole number.
    std::uint64_t number(const std::string& key, std::uint64_t otherwise) const;

private:
    std::map<std::string, std::string> values_;
};

void export_order(const Options& options);  ///< a full capture's accesses to an order file
void import_order(const Options& options);  ///< an order file to a full capture
void step_order(const Options& options);    ///< one JSON line an access, on stdout
void count_order(const Options& options);   ///< counts by state (Counts::json), on stdout
void capture_info(const Options& options);  ///< a capture's header as JSON, on stdout

}  // namespace s80::replay
