# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m s80lab`."""

from s80lab.commands.cli import main

if __name__ == "__main__":
    main()
