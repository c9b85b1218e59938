# SPDX-License-Identifier: LGPL-2.1-or-later
"""The compiled module _nmsaccel, which is a package of its own in Debian."""
from __future__ import annotations

from typing import Any, Optional

try:
    from nmscore import _nmsaccel as _nmsaccel
except ImportError as error:
    raise ImportError(
        "nmscore.lazy, nmscore.export, engine \"xla\" and programs for TPUs and GPUs need the "
        "module nmscore._nmsaccel: install the package python3-nmsaccel, or build with "
        "-Daccel=enabled (%s)" % error) from None


def engine(plugin: Optional[bytes], strict: int) -> Any:
    """Returns engine xla in a capsule, for a context of the module _nmscore."""
    return _nmsaccel.engine(None if plugin is None else plugin.decode(), strict)
