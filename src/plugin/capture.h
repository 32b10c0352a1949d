// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the run's captures beside the player, on its thread.
#pragma once
#include <optional>

#include "model/hierarchy.h"
#include "model/player.h"
#include "model/window.h"
#include "plugin/arguments.h"
#include "trace/filter.h"
#include "trace/writer.h"

namespace s80::plugin {

/// The captures that the arguments ask for, from the first window recorded to the end of the measured region,
/// or to the end of a run that has none. They do not change what is played.
class Capture {
public:
    /// Throws model::Error when a file cannot be begun.
    Capture(const Arguments& arguments, const model::Machine& machine, const model::Protocol& protocol,
            std::uint64_t lines);

    /// Who is to see what is played; may be null.
    model::Observer* observer() { return filter_ ? &*filter_ : nullptr; }
    /// Takes a window that was just played. Throws model::Error when a file cannot grow.
    void write(const model::Window& window);

private:
    model::Mark last_;  ///< of the window that ends the captures
    std::optional<trace::Writer> full_;
    std::optional<trace::Writer> filtered_;
    std::optional<trace::L1Filter> filter_;
};

}  // namespace s80::plugin
