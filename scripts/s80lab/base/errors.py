# SPDX-License-Identifier: GPL-2.0-or-later
"""The exception whose text is meant for the user."""


class UserError(Exception):
    """An error that the user can fix. Its text is one sentence: what is wrong, where, and what to do.

    The command line prints the text and exits with code 2.
    """
