# SPDX-License-Identifier: GPL-2.0-or-later
"""Print each class in a header of `src` that has too many fields: a sign that the class has more than one task.

clang-query finds the fields in all headers at once.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST = 20
"""Fields of a class."""
EXCEPTIONS = ("Machine", "Arguments")
"""The keys of a machine file and the plugin's arguments: lists that users see, with a field for each row."""
QUERY = (
    "set bind-root false\nmatch fieldDecl(hasParent(cxxRecordDecl(isExpansionInFileMatching({folder})).bind({name})))\n"
)
FIELD = re.compile(
    r'^(/\S+):(\d+):\d+: note: "class" binds here\n.*?(?:class|struct|union)\b(?: alignas\(\w+\))? (\w+)', re.M
)


def large_classes(src: Path) -> Iterator[str]:
    """One sentence for each class with too many fields."""
    tidy = shutil.which("clang-tidy")
    if tidy is None:
        raise SystemExit("clang-tidy is not installed: run `make setup`")
    with tempfile.TemporaryDirectory() as folder:
        headers = Path(folder) / "headers.cpp"
        headers.write_text("".join(f'#include "{path}"\n' for path in sorted(src.rglob("*.h"))))
        query = Path(folder) / "query"
        query.write_text(QUERY.format(folder=f'"^{src}/"', name='"class"'))
        # Debian has clang-query, which comes with clang-tidy, only with its version in the name.
        program = Path(tidy).resolve().with_name("clang-query")
        command = [str(program), str(headers), "-f", str(query), "--", "-std=c++20", f"-I{src}"]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for (file, line, name), count in sorted(Counter(FIELD.findall(found)).items()):
        if count > MOST and name not in EXCEPTIONS:
            where = Path(file).relative_to(src.parent)
            yield f"{where}:{line}: {name} has {count} fields, more than {MOST}: divide it by its tasks"


def main() -> int:
    faults = list(large_classes(ROOT / "src"))
    for fault in faults:
        print(fault)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
