// SPDX-License-Identifier: GPL-2.0-or-later
// A destination of epochs that plays them at once.
#pragma once
#include <deque>
#include <memory>

#include "plugin/window_sink.h"
#include "timing/player.h"

namespace s80::plugin {

/// What it makes known is as late as that of the plugin.
class PlayingSink final : public WindowSink {
public:
    PlayingSink(model::Player& player, unsigned processors)
        : player_(player), processors_(processors), known_(3, {player.clock_ns(), player.paces()}) {}
    std::unique_ptr<model::Window> take() override { return std::make_unique<model::Window>(processors_); }
    void submit(std::unique_ptr<model::Window> window) override {
        player_.play(*window);
        ++played;
        known_.push_back({player_.clock_ns(), player_.paces()});
        known_.pop_front();
    }
    const Known& known() override { return known_.front(); }

    unsigned played = 0;

private:
    model::Player& player_;
    const unsigned processors_;
    std::deque<Known> known_;
};

}  // namespace s80::plugin
