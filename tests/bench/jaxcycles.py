#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""jaxcycles XLATEXT LIBTPU: what the versions of jaxseeds.py take on TPUs, as libtpu's compiler
estimates it from its static schedule (cycles.py), as a table. Needs JAX, and nmscore in
PYTHONPATH. No TPU is involved, nothing is run, so estimates compare with estimates only.

The profiler counts a loop of XLA once, so the operations of the loop of nms_jax are multiplied by
its 128 steps.
"""
import os
import re
import sys

XLATEXT, LIBTPU = sys.argv[1:3]
os.environ.update(TPU_LIBRARY_PATH=LIBTPU, TPU_SKIP_MDS_QUERY='1', TPU_LOG_DIR='disabled',
                  ALLOW_MULTIPLE_LIBTPU_LOAD='1', JAX_PLATFORMS='cpu')

import jax  # noqa: E402 (the variables above are read by the import)
import jax.numpy as jnp  # noqa: E402
from jax.experimental import topologies  # noqa: E402
from jax.sharding import SingleDeviceSharding  # noqa: E402

import cycles  # noqa: E402
import jaxseeds  # noqa: E402
import seedpallas  # noqa: E402

TOPOLOGIES = ('v5e:2x2', 'v6e:2x2')
COMPUTATION = re.compile(r'^(?:ENTRY )?%(\S+) \(.*?^\}', re.M | re.S)
OPERATION = re.compile(r'^  (?:ROOT )?%(\S+) = ', re.M)
LOOP = re.compile(r' while\(.*?condition=%([^,\s]+), body=%([^,\s]+)')
SHAPES = (jax.ShapeDtypeStruct((jaxseeds.BOXES, 4), jnp.bfloat16),
          jax.ShapeDtypeStruct((jaxseeds.BOXES,), jnp.float32))


def lowered(call, device):
    place = SingleDeviceSharding(device)
    kind = jax.sharding.AbstractDevice(device.device_kind, num_cores=1, platform='tpu')
    # (Pallas asks it for the kind of the device)
    mesh = jax.sharding.AbstractMesh((), (), abstract_device=kind)
    with jax.sharding.use_abstract_mesh(mesh):
        program = jax.jit(call, in_shardings=place, out_shardings=place)
        return program.trace(*SHAPES).lower(lowering_platforms=('tpu',))


def steps_of(text):
    """Returns how often each operation outside of a computation called by another one runs."""
    parts = {m[1]: OPERATION.findall(m[0]) for m in COMPUTATION.finditer(text)}
    steps = dict.fromkeys((name for names in parts.values() for name in names), 1)
    for loop in LOOP.findall(text):
        steps.update(dict.fromkeys((name for part in loop for name in parts[part]),
                                   jaxseeds.MOST))
    return steps


def estimate(compiler, name, call, device):
    """Returns the cycles of the whole program as text."""
    program = lowered(call, device)
    text = program.as_text()
    if name == 'ours':
        text = cycles.to_the_end(text)
    try:
        counted, complete = compiler.estimate(text, None if name == 'nms_jax' else 'name.')
    except SystemExit:  # the profiler stopped before the kernel each time
        return 'not estimated'
    steps = steps_of(program.compile().as_text()) if name == 'nms_jax' else {}
    total = sum(value * steps.get(op, 1) for op, value in counted.items())
    # (the profiler aborts at a scatter or in a check of its own)
    missing = ', then the profiler aborts'
    return f'{total:,}' + ('' if complete else missing)


def main():
    compiler = cycles.Compiler(XLATEXT, LIBTPU)
    versions = {'nms_jax': jaxseeds.nms_jax.__wrapped__, 'nms_pallas': seedpallas.nms,
                'ours': jaxseeds.ours.__wrapped__}
    print('| version | ' + ' | '.join(TOPOLOGIES) + ' |\n|---|' + '---:|' * len(TOPOLOGIES))
    for name, call in versions.items():
        row = []
        for cycles.AHEAD in TOPOLOGIES:
            device = topologies.get_topology_desc(platform='tpu',
                                                  topology_name=cycles.AHEAD).devices[0]
            row.append(estimate(compiler, name, call, device))
        print(f'| {name} | ' + ' | '.join(row) + ' |', flush=True)


if __name__ == '__main__':
    main()
