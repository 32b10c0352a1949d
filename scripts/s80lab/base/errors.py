# SPDX-License-Identifier: GPL-2.0-or-later
"""The one error that is meant for the user."""


class UserError(Exception):
    """One clear sentence: what is wrong, where, and what to do. The command line prints it and exits with 2."""
