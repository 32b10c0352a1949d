# SPDX-License-Identifier: GPL-2.0-or-later
"""The warning about means that mislead."""


class MisleadingMeanWarning(UserWarning):
    """A mean pools runs of several designs, scales, servers, images or engines, or contains invalid runs."""
