# SPDX-License-Identifier: LGPL-2.1-or-later
"""NMS inside JAX programs: nmscore.jax.nms works in jit, vmap and shard_map.

    import nmscore.jax

    @jax.jit
    def detect(boxes, scores):
        result = nmscore.jax.nms(boxes, scores, 0.5, 100)
        return boxes[result.kept], result.kept_count

It needs JAX 0.8 or newer and is tested with 0.8 to 0.10. Results are the same bits as those of
nmscore.run, on every platform.
"""
from __future__ import annotations

import functools
from typing import Any, Mapping, NamedTuple, Optional

import jax
import jax.numpy as jnp

# (The documentation is made without JAX, with a mock of it.)
if isinstance(jax.__version_info__, tuple) and jax.__version_info__ < (0, 8):
    raise ImportError("nmscore.jax needs JAX 0.8 or newer (it is tested with 0.8 to 0.10), not "
                      + jax.__version__)

from nmscore._jaxoptions import Options, count, read_options
from nmscore._jaxprimitive import IMPLEMENTATIONS, gathered, nms_p, varying_alike
from nmscore._types import ClassOptions

__all__ = ["Result", "implementation", "nms"]


class Result(NamedTuple):
    """The result of nms.

    kept        (max_output,) int32: the indices of the kept boxes, best first, then -1
    kept_count  () int32: the number of kept boxes
    """
    kept: jax.Array
    kept_count: jax.Array


def implementation(platform: Optional[str] = None) -> str:
    """Returns in one line what runs NMS on `platform`, "cpu", "tpu", "cuda" or "rocm"; None: the
    platform of JAX's default backend."""
    name = platform or jax.default_backend()
    name = "cuda" if name == "gpu" else name
    if name not in IMPLEMENTATIONS:
        raise ValueError(f"platform is {platform!r}, must be one of {', '.join(IMPLEMENTATIONS)}")
    return IMPLEMENTATIONS[name]


@functools.partial(jax.jit, static_argnames=("max_output", "options"))
def nmscore_nms(*columns: jax.Array, max_output: int, options: Options) -> Any:
    """Runs the primitive for one image. The name is that of the function in the program."""
    batch = varying_alike([gathered(column)[None] for column in columns])
    kept, kept_count = nms_p.bind(*batch, max_output=max_output, options=options)
    return kept[0], kept_count[0]


_FLOATS = (jnp.float32, jnp.bfloat16, jnp.float16)


def _floats(array: jax.Array, name: str) -> jax.Array:
    """Returns the numbers as they are, or rounded to float32."""
    if jnp.issubdtype(array.dtype, jnp.complexfloating):
        raise TypeError(f"{name} must hold real numbers, not {array.dtype}")
    return array if array.dtype in _FLOATS else array.astype(jnp.float32)


def _column(values: Any, name: str, boxes: int, kind: Any) -> jax.Array:
    """Returns the column, or an empty one for None."""
    if values is None:
        return jnp.zeros((0,), kind)
    array = jnp.asarray(values)
    if array.shape != (boxes,):
        raise ValueError(f"{name} must have the shape ({boxes},), not {array.shape}")
    if kind == jnp.float32:
        return _floats(array, name)
    if kind == jnp.int32 and not jnp.issubdtype(array.dtype, jnp.integer):
        raise TypeError(f"{name} must hold whole numbers, not {array.dtype}")
    return array != 0 if kind == jnp.bool_ else array.astype(kind)


def nms(boxes: Any, scores: Any, iou_threshold: float, max_output: int, *,
        class_ids: Optional[Any] = None, exclude: Optional[Any] = None,
        parents: Optional[Any] = None, score_threshold: float = float("-inf"),
        max_per_class: int = 0, max_candidates: int = 0, inclusive: bool = False,
        score_strict: bool = False, class_agnostic: bool = False,
        class_options: Optional[Mapping[int, ClassOptions]] = None) -> Result:
    """Returns the indices of the at most max_output boxes that NMS keeps, best first, as Result.

    The arrays of one image (vmap adds images; all of them are one call):

    boxes            (N, 4) rows of x1 y1 x2 y2, in any unit: float32, bfloat16, float16;
                     others are rounded to float32
    scores           (N,) numbers, as boxes; higher is better
    class_ids        (N,) whole numbers, int32 or narrower: boxes suppress only boxes of the
                     same class; None: all boxes have class 0
    exclude          (N,) booleans or numbers: boxes with True, or not 0, take no part
    parents          (N,) whole numbers: the index of the box of which this one is a part, or
                     -1. A box and its parent do not suppress each other

    Numbers and dicts, known when the program is traced; a program is compiled for each set:

    iou_threshold    0..1: a kept box suppresses later boxes whose IoU with it exceeds it
    max_output       the largest number of boxes kept, 1 or more: the length of Result.kept
    score_threshold, max_per_class, max_candidates, inclusive, score_strict, class_agnostic,
    class_options    as in nmscore.run

    The result is that of nmscore.run. Its derivative is zero, as that of argmax. With an explicit
    mesh the images stay distributed over the devices, and all boxes of an image are gathered on
    its device.

    Raises TypeError or ValueError, with the name of the parameter.
    """
    options = read_options(iou_threshold, score_threshold, max_per_class, max_candidates,
                           inclusive, score_strict, class_agnostic, class_options)
    most = count(max_output, "max_output", 1)
    rows = _floats(jnp.asarray(boxes), "boxes")
    if rows.ndim != 2 or rows.shape[1] != 4:
        raise ValueError(f"boxes must have the shape (N, 4), not {rows.shape}")
    if scores is None:
        raise TypeError("scores must be an array, not None")
    n = rows.shape[0]
    kept, kept_count = nmscore_nms(
        rows, _column(scores, "scores", n, jnp.float32),
        _column(class_ids, "class_ids", n, jnp.int32), _column(exclude, "exclude", n, jnp.bool_),
        _column(parents, "parents", n, jnp.int32), max_output=most, options=options)
    return Result(kept, kept_count)
