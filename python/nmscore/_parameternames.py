# SPDX-License-Identifier: LGPL-2.1-or-later
"""Messages that name the parameters of the function that was called."""
from __future__ import annotations

import contextlib
import re
from typing import Iterator


@contextlib.contextmanager
def renamed(**names: str) -> Iterator[None]:
    """Replaces the parameter's name with which the message of a TypeError or ValueError begins.

        with renamed(class_ids="idxs"):
            run(boxes, scores, idxs)
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        text = re.sub(r"^\w+", lambda name: names.get(name[0], name[0]), str(error))
        raise kind(text) from error
