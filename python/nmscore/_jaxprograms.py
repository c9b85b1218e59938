# SPDX-License-Identifier: LGPL-2.1-or-later
"""The JAX primitive on TPUs and GPUs: inlines the program that nmscore.export prints.

A program decides one image. More images are decided one after another.
"""
from __future__ import annotations

from typing import Any, Dict, List, Tuple

import jax
from jax.extend.core import Primitive
from jax.interpreters import mlir
import jax.numpy as jnp
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from nmscore import export
from nmscore._jaxoptions import Options

_NAMES = {"tpu": "nmscore_tpu_kernel", "gpu": "nmscore_loop"}

# What runs, by the program that nmscore.export prints.
PROGRAMS = {"tpu": f"a Mosaic kernel, function {_NAMES['tpu']} with a tpu_custom_call",
            "gpu": f"a StableHLO loop, function {_NAMES['gpu']}"}

_Parameters = Tuple[Tuple[str, Any], ...]

# Decides one image. `parameters` are those of nmscore.export.program.
program_p = Primitive("nmscore_program")
program_p.multiple_results = True


@program_p.def_abstract_eval
def _abstract(boxes: Any, *columns: Any, parameters: _Parameters, **_: Any) -> List[Any]:
    return [boxes.update(shape=shape, dtype=jnp.dtype("int32"), weak_type=False)
            for shape in ((dict(parameters)["max_detections"],), ())]


def _lower(ctx: Any, *operands: Any, platform: str, parameters: _Parameters) -> Any:
    text = export.program(platform, **dict(parameters)).text
    context = ctx.module_context
    name = mlir.merge_mlir_modules(context.module, _NAMES[platform],
                                   ir.Module.parse(text, context.context), context.symbol_table)
    types = context.symbol_table[name].type.results
    return func.CallOp(types, ir.FlatSymbolRefAttr.get(name), operands).results


def _parameters(options: Options, boxes: int, max_output: int, has_classes: bool) -> Dict[str, Any]:
    """Returns the parameters of the program. Raises NotImplementedError for an option without
    one. Without classes, a cap of a class is a cap of all boxes."""
    for name, value in (("max_candidates", options.max_candidates),
                        ("class_options", options.classes)):
        if value:
            raise NotImplementedError(f"{name} works on the CPU only in nmscore.jax.nms")
    cap = options.max_per_class
    most = min(max_output, boxes, cap if cap and not has_classes else boxes)
    return {"boxes": boxes, "max_detections": most, "iou_threshold": options.iou_threshold,
            "classes": has_classes and (cap > 0 or not options.class_agnostic),
            "score_threshold": options.score_threshold, "max_per_class": cap if has_classes else 0,
            "inclusive": options.inclusive, "score_strict": options.score_strict,
            "class_agnostic": options.class_agnostic}


def _image(rows: Any, scores: Any, classes: Any, exclude: Any, platform: str,
           parameters: Dict[str, Any], max_output: int) -> Any:
    """Decides one image. An excluded box has score NaN, so that it takes no part."""
    if exclude.size:
        scores = jnp.where(exclude, jnp.nan, scores)
    columns = (rows, scores, classes) if parameters["classes"] else (rows, scores)
    picks, count = program_p.bind(*columns, platform=platform,
                                 parameters=tuple(parameters.items()))
    return jnp.pad(picks, (0, max_output - picks.shape[0]), constant_values=-1), count


def decide(platform: str, boxes: Any, scores: Any, classes: Any, exclude: Any, parents: Any, *,
           max_output: int, options: Options) -> Any:
    """The primitive nms in terms of programs for `platform`, "tpu" or "gpu"."""
    images, count = boxes.shape[:2]
    if count == 0:
        return jnp.full((images, max_output), -1, jnp.int32), jnp.zeros((images,), jnp.int32)
    if parents.size:
        raise NotImplementedError("parents work on the CPU only in nmscore.jax.nms")
    parameters = _parameters(options, count, max_output, classes.size > 0)
    columns = (boxes.astype(jnp.float32), scores.astype(jnp.float32), classes, exclude)

    def image(arrays: Any) -> Any:
        return _image(*arrays, platform, parameters, max_output)

    if images == 1:
        return [result[None] for result in image([column[0] for column in columns])]
    return jax.lax.map(image, columns)


mlir.register_lowering(program_p, _lower)
