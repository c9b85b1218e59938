# SPDX-License-Identifier: LGPL-2.1-or-later
"""The JAX primitive of nmscore.jax.

It has a batch dimension always: boxes (B, N, 4), scores (B, N), and class ids, exclude and
parents, (B, N) each, or (B, 0) if absent. vmap joins its dimension with B, so that any number of
vmaps is one call.
"""
from __future__ import annotations

import functools
from typing import Any, List, Sequence, Tuple

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
import jax.numpy as jnp

from nmscore import _nmscore
from nmscore._jaxprograms import PROGRAMS, decide

TARGET = "nmscore_nms"

# Descriptions of the implementation on each platform.
IMPLEMENTATIONS = {"cpu": f"the native core, custom call {TARGET}", "tpu": PROGRAMS["tpu"],
                   "cuda": PROGRAMS["gpu"], "rocm": PROGRAMS["gpu"]}

nms_p = Primitive("nmscore_nms")
nms_p.multiple_results = True


def _abstract(boxes: Any, *columns: Any, max_output: int, **_: Any) -> List[Any]:
    kept = (boxes.shape[0], max_output)
    return [boxes.update(shape=shape, dtype=jnp.dtype("int32"), weak_type=False)
            for shape in (kept, kept[:1])]


def _batch(args: Sequence[Any], dims: Sequence[Any], **params: Any) -> Tuple[Any, Any]:
    size = next(a.shape[d] for a, d in zip(args, dims) if d is not None)
    joined = []
    for a, d in zip(args, dims):
        whole = jnp.broadcast_to(a, (size, *a.shape)) if d is None else jnp.moveaxis(a, d, 0)
        joined.append(whole.reshape(size * whole.shape[1], *whole.shape[2:]))
    results = nms_p.bind(*joined, **params)
    images = joined[0].shape[0] // size if size else 1
    return [r.reshape(size, images, *r.shape[1:]) for r in results], [0] * len(results)


def gathered(array: Any) -> Any:
    """Returns the array with all its elements on each device, if an explicit mesh divides them."""
    sharding = jax.typeof(array).sharding
    if all(axis is None for axis in sharding.spec):
        return array
    return jax.sharding.reshard(array, sharding.update(spec=jax.sharding.PartitionSpec()))


def _axes(array: Any) -> Any:
    """Returns the axes of shard_map over which the array varies."""
    aval = jax.typeof(array)
    return getattr(aval, "mat", aval).varying if hasattr(aval, "mat") else aval.vma


def _vary(array: Any, axes: Tuple[Any, ...]) -> Any:
    if hasattr(jax.lax, "pcast"):  # since JAX 0.8.2
        return jax.lax.pcast(array, axes, to="varying")
    return jax.lax.pvary(array, axes)


def varying_alike(arrays: Sequence[Any]) -> List[Any]:
    """Makes all arrays vary over the same axes of shard_map, as a primitive requires."""
    axes = frozenset().union(*map(_axes, arrays))
    return [_vary(a, tuple(axes - _axes(a))) if axes - _axes(a) else a for a in arrays]


_compiled = jax.jit(nms_p.bind, static_argnames=("max_output", "options"))


def _run(*args: Any, **params: Any) -> Any:
    """Runs the primitive under jax.disable_jit: compiles it all the same, because it can run in
    compiled programs only."""
    with jax.disable_jit(False):
        return _compiled(*args, **params)


def _zero_tangents(args: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Tuple[Any, Any]:
    """Returns zero tangents, as for argmax, because the results are indices."""
    results = nms_p.bind(*args, **params)
    return results, [ad.Zero(jax.typeof(r).to_tangent_aval()) for r in results]


@functools.lru_cache(maxsize=None)
def _register_handler() -> None:
    jax.ffi.register_ffi_target(TARGET, _nmscore.xla_handler(), platform="cpu")


def _lower_for_cpu(ctx: Any, *operands: Any, max_output: int, options: Any) -> Any:
    _register_handler()
    return jax.ffi.ffi_lowering(TARGET)(ctx, *operands, **options.attributes())


nms_p.def_impl(_run)
nms_p.def_abstract_eval(_abstract)
batching.primitive_batchers[nms_p] = _batch
ad.primitive_jvps[nms_p] = _zero_tangents
mlir.register_lowering(nms_p, _lower_for_cpu, platform="cpu")
for _platform, _kind in (("tpu", "tpu"), ("cuda", "gpu"), ("rocm", "gpu")):
    mlir.register_lowering(nms_p, mlir.lower_fun(functools.partial(decide, _kind),
                                                 multiple_results=True), platform=_platform)
