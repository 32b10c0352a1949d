// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/cache_view.h"

namespace s80::model {

/// If a core has several copies, the block in the L2 has the state.
State CacheView::state(unsigned core, Line line) const {
    const CoreCaches& mine = cores_[core];
    for (const Cache* cache : {&mine.l2, &mine.l1d, &mine.l1i}) {
        if (const Cache::Slot slot = cache->find(line)) {
            return cache->block(slot).state;
        }
    }
    return protocol_.invalid();
}

bool CacheView::in_l1(unsigned core, Line line, bool instruction) const {
    return static_cast<bool>((instruction ? cores_[core].l1i : cores_[core].l1d).find(line));
}

bool CacheView::in_l2(unsigned core, Line line) const {
    return static_cast<bool>(cores_[core].l2.find(line));
}

bool CacheView::l1_writable(unsigned core, Line line) const {
    const Cache& l1d = cores_[core].l1d;
    const Cache::Slot slot = l1d.find(line);
    return slot && l1d.block(slot).writable;
}

}  // namespace s80::model
