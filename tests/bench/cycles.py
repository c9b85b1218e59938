#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cycles [--first] TPUPRINT XLATEXT LIBTPU: what NMS on a TPU v5e would take, as libtpu's compiler
estimates it from its static schedule, as a table: boxes N x 4 and scores N, binary32, in; the
chosen boxes out. No TPU is involved and nothing is run, so estimates compare with estimates only.
--first: only N = 1024, K = 128.

Every tile of the form of tiles is counted: the kernel ends early when the picks
are complete, which depends on the boxes, and the compiler counts such a branch
as not taken. So its condition is replaced by `true` here.
"""
import base64
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import report

BODY = re.compile(r'(\\22body\\22: \\22)([A-Za-z0-9+/=]*)(\\22)')
ESTIMATE = re.compile(r'hlo_op_name: "([^"]*)"\s+estimated_cycles: (\d+)\s+'
                      r'num_equivalent_hlos: (\d+)')


def to_the_end(module):
    """Returns the module with every tile of its grid counted."""
    def edit(m):
        text = base64.b64decode(m.group(2)).decode()
        text, count = re.subn(r'(%v\d+) = arith\.cmpi slt, %v\d+, %v\d+ : i32\n',
                              r'\1 = arith.constant 1 : i1\n', text)
        if count != 1:
            raise SystemExit(f'cycles: {count} conditions where one was expected')
        return m.group(1) + base64.b64encode(text.encode()).decode() + m.group(3)
    return BODY.sub(edit, module)


def from_boxes(module, boxes, picks):
    """Returns the module with the inputs and outputs that all rows share."""
    f, s, column = f'tensor<{boxes}xf32>', f'tensor<{boxes}xi32>', f'tensor<{boxes}x1xf32>'
    corners = ''.join(f"""
  %c{i} = stablehlo.slice %boxes [0:{boxes}, {i}:{i + 1}] : (tensor<{boxes}x4xf32>) -> {column}
  %x{i} = stablehlo.reshape %c{i} : ({column}) -> {f}""" for i in range(4))
    head, rest = module.split('\n', 1)
    return f"""{head}
func.func public @main(%boxes: tensor<{boxes}x4xf32>, %scores: {f},
    %parameters: tensor<8x128xf32>) -> tensor<{picks}xi32> {{{corners}
  %zero = stablehlo.constant dense<0.0> : {f}
  %none = stablehlo.constant dense<0> : {s}
  %rest = stablehlo.constant dense<2147483647> : {s}
  %plain = stablehlo.add %scores, %zero : {f}
  %bits = stablehlo.bitcast_convert %plain : ({f}) -> {s}
  %flip = stablehlo.xor %bits, %rest : {s}
  %below = stablehlo.compare LT, %bits, %none, SIGNED : ({s}, {s}) -> tensor<{boxes}xi1>
  %key = stablehlo.select %below, %flip, %bits : tensor<{boxes}xi1>, {s}
  %picks = func.call @nms(%x0, %x1, %x2, %x3, %key, %parameters)
      : ({f}, {f}, {f}, {f}, {s}, tensor<8x128xf32>) -> tensor<{picks}xi32>
  func.return %picks : tensor<{picks}xi32>
}}
""" + rest.replace('func.func @main(', 'func.func private @nms(', 1)


def estimate(xlatext, plugin, text):
    """Returns the cycles of all operations, and whether the compiler's profiler came to the end.
    The profiler runs beside the compiler, so what it has when it stops at an operation that it does
    not know differs: it is asked until the kernel is among them."""
    cycles = {}
    for _ in range(12):
        with tempfile.TemporaryDirectory() as folder:
            module, profile = pathlib.Path(folder, 'module'), pathlib.Path(folder, 'profile')
            module.write_text(text)
            profile.mkdir()
            environment = dict(os.environ, ALLOW_MULTIPLE_LIBTPU_LOAD='1',
                               TPU_SKIP_MDS_QUERY='1', TPU_LOG_DIR='disabled',
                               LIBTPU_INIT_ARGS=f'--xla_jf_dump_static_llo_profile_to={profile}')
            done = subprocess.run([xlatext, 'ahead', plugin, 'v5e:2x2', module],
                                  env=environment, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, errors='replace')
            found = collections.Counter()
            for file in profile.glob('*.textproto'):
                for op, each, count in ESTIMATE.findall(file.read_text()):
                    found[op] += int(each) * int(count)
        cycles |= found
        if done.returncode == 0 or any(op.startswith('name.') for op in cycles):
            return sum(cycles.values()), done.returncode == 0
    raise SystemExit('cycles: the compiler does not estimate all\n' + done.stderr[-3000:])


SIZES = ((1024, 128), (1024, 300), (4096, 300), (16384, 300), (65536, 300))


def rows(tpuprint, xlatext, plugin, sizes):
    for boxes, picks in sizes:
        for form, name in (1, 'picks'), (0, 'tiles'):
            text = subprocess.check_output(
                [tpuprint, f'boxes={boxes}', f'picks={picks}', f'form={form}'], text=True)
            if name == 'tiles':
                text = to_the_end(text)
            total, complete = estimate(xlatext, plugin, from_boxes(text, boxes, picks))
            # the profiler may abort in a check of its own after it wrote all operations
            note = '' if complete else ', then the profiler aborts'
            yield name, f'{boxes:,}', picks, f'{total:,}{note}'


if __name__ == '__main__':
    first = sys.argv[1] == '--first'
    report.print_table(['form', 'N', 'K', 'cycles'],
                       rows(*sys.argv[1 + first:], SIZES[:1] if first else SIZES))
