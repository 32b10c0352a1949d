# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes gem5's standard library usable in a build without an instruction set. Import this module before the library.

Since 24.1 such a build lacks classes that the library imports but needs for guests only. Placeholders stand for them.
"""

import m5.objects
from release import this_release

for name in this_release().absent:
    if not hasattr(m5.objects, name):
        setattr(m5.objects, name, type(name, (), {}))
