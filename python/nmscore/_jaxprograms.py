# SPDX-License-Identifier: LGPL-2.1-or-later
"""The JAX primitive on TPUs and GPUs: inlines the program that nmscore.export prints.

On TPUs one kernel decides all images of a batch, one after another. On GPUs one loop decides them
together.
"""
from __future__ import annotations

from typing import Any, List

from jax.extend.core import Primitive
from jax.interpreters import mlir
import jax.numpy as jnp
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from nmscore._jaxoptions import Options

_NAMES = {"tpu": "nmscore_tpu_kernel", "gpu": "nmscore_loop"}

# Descriptions of the programs of each platform, which nmscore.export prints.
PROGRAMS = {"tpu": f"a Mosaic kernel, function {_NAMES['tpu']} with a tpu_custom_call",
            "gpu": f"a StableHLO loop, function {_NAMES['gpu']}"}

# Decides `images` images of N boxes each, which follow one another in the arrays: at most `most`
# boxes of each are kept.
program_p = Primitive("nmscore_program")
program_p.multiple_results = True


def _abstract(boxes: Any, *columns: Any, images: int, most: int, **_: Any) -> List[Any]:
    batch = (images,) if images > 1 else ()
    return [boxes.update(shape=batch + shape, dtype=jnp.dtype("int32"), weak_type=False)
            for shape in ((most,), ())]


def _lower(ctx: Any, *operands: Any, platform: str, images: int, most: int, classes: bool,
           parents: bool, options: Options) -> Any:
    from nmscore import export  # here, because the CPU does not need what it needs
    text = export.program(platform, ctx.avals_in[0].shape[0] // images, classes=classes,
                          parents=parents, images=images, max_detections=most,
                          **options.of_program()).text
    context = ctx.module_context
    name = mlir.merge_mlir_modules(context.module, _NAMES[platform],
                                   ir.Module.parse(text, context.context), context.symbol_table)
    types = context.symbol_table[name].type.results
    return func.CallOp(types, ir.FlatSymbolRefAttr.get(name), operands).results


def decide(platform: str, boxes: Any, scores: Any, classes: Any, exclude: Any, parents: Any, *,
           max_output: int, options: Options) -> Any:
    """Computes the primitive nms by programs for `platform`, "tpu" or "gpu". Excluded boxes get the
    score NaN, so that they take no part. Without classes a cap of a class limits all boxes."""
    images, boxes_of_image = boxes.shape[:2]
    if images * boxes_of_image == 0:
        return jnp.full((images, max_output), -1, jnp.int32), jnp.zeros((images,), jnp.int32)
    most = min(max_output, boxes_of_image)
    if not classes.size and not options.classes:
        most = min(most, options.max_per_class or most)
    if exclude.size:
        scores = jnp.where(exclude, jnp.nan, scores)
    uses_classes = classes.size > 0 and (options.max_per_class > 0 or options.classes != ()
                                         or not options.class_agnostic)
    columns = [boxes.astype(jnp.float32), scores.astype(jnp.float32)] + [classes] * uses_classes
    columns += [parents] * bool(parents.size)
    picks, count = program_p.bind(*[c.reshape(-1, *c.shape[2:]) for c in columns],
                                  platform=platform, images=images, most=most,
                                  classes=uses_classes, parents=bool(parents.size),
                                  options=options)
    return jnp.pad(picks.reshape(images, most), [(0, 0), (0, max_output - most)],
                   constant_values=-1), count.reshape(images)


program_p.def_abstract_eval(_abstract)
mlir.register_lowering(program_p, _lower)
