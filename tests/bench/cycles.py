#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cycles [--first] MOSAICPRINT XLATEXT LIBTPU OUT [PYTHON]: what NMS on a TPU v5e would
take, as libtpu's compiler estimates it from its static schedule. No TPU is
involved, nothing is run, so estimates compare with estimates only.

Writes OUT.md and OUT.json. The same boundary for all: boxes N x 4 and scores N,
binary32, in; the chosen boxes out. PYTHON: one that has JAX, for the seed's
nms_pallas; without it that row is left out. --first: only N = 1024, K = 128.

Every tile of the form of tiles is counted: the kernel ends early when the picks
are complete, which depends on the boxes, and the compiler counts such a branch
as not taken. So its condition is replaced by `true` here.
"""
import base64
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

BODY = re.compile(r'(\\22body\\22: \\22)([A-Za-z0-9+/=]*)(\\22)')
ESTIMATE = re.compile(r'hlo_op_name: "([^"]*)"\s+estimated_cycles: (\d+)\s+'
                      r'num_equivalent_hlos: (\d+)')
AHEAD = 'v5e:2x2'


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
    n, f, s = boxes, f'tensor<{boxes}xf32>', f'tensor<{boxes}xi32>'
    lines = [f'func.func public @main(%boxes: tensor<{n}x4xf32>, %scores: {f}, '
             f'%parameters: tensor<8x128xf32>) -> tensor<{picks}xi32> {{']
    for i in range(4):
        lines += [f'%c{i} = "stablehlo.slice"(%boxes) {{start_indices = array<i64: 0, {i}>, '
                  f'limit_indices = array<i64: {n}, {i + 1}>, strides = array<i64: 1, 1>}} : '
                  f'(tensor<{n}x4xf32>) -> tensor<{n}x1xf32>',
                  f'%x{i} = "stablehlo.reshape"(%c{i}) : (tensor<{n}x1xf32>) -> {f}']
    lines += [f'%zero = "stablehlo.constant"() {{value = dense<0.0> : {f}}} : () -> {f}',
              f'%none = "stablehlo.constant"() {{value = dense<0> : {s}}} : () -> {s}',
              f'%rest = "stablehlo.constant"() {{value = dense<2147483647> : {s}}} : () -> {s}',
              f'%plain = "stablehlo.add"(%scores, %zero) : ({f}, {f}) -> {f}',
              f'%bits = "stablehlo.bitcast_convert"(%plain) : ({f}) -> {s}',
              f'%flip = "stablehlo.xor"(%bits, %rest) : ({s}, {s}) -> {s}',
              f'%below = "stablehlo.compare"(%bits, %none) {{comparison_direction = '
              f'#stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type '
              f'SIGNED>}} : ({s}, {s}) -> tensor<{n}xi1>',
              f'%key = "stablehlo.select"(%below, %flip, %bits) : '
              f'(tensor<{n}xi1>, {s}, {s}) -> {s}',
              f'%picks = "func.call"(%x0, %x1, %x2, %x3, %key, %parameters) {{callee = @nms}} : '
              f'({f}, {f}, {f}, {f}, {s}, tensor<8x128xf32>) -> tensor<{picks}xi32>',
              f'"func.return"(%picks) : (tensor<{picks}xi32>) -> ()', '}']
    head, rest = module.split('\n', 1)
    rest = rest.replace('func.func @main(', 'func.func private @nms(', 1)
    return '\n'.join([head, *lines, rest])


def on_all_processors():
    """(On one alone the profiler always stops before the kernel of nms_pallas.)"""
    os.sched_setaffinity(0, range(os.cpu_count()))


class Compiler:
    def __init__(self, xlatext, plugin):
        self.xlatext, self.plugin = xlatext, plugin

    def estimate(self, text, kernel=None):
        """Cycles by operation, and whether the compiler's profiler came to the end. It
        takes the operations at the same time: what it has when it stops at one that it
        does not know differs, so it is asked until `kernel` is among them."""
        cycles, complete = {}, False
        for _ in range(12):
            more, complete = self.estimate_once(text)
            cycles |= more
            if complete or (kernel and any(op.startswith(kernel) for op in cycles)):
                return cycles, complete
        raise SystemExit('cycles: the compiler does not estimate all')

    def estimate_once(self, text):
        with tempfile.TemporaryDirectory() as folder:
            with open(f'{folder}/module', 'w') as file:
                file.write(text)
            os.mkdir(f'{folder}/profile')
            environment = dict(os.environ, ALLOW_MULTIPLE_LIBTPU_LOAD='1',
                               TPU_SKIP_MDS_QUERY='1', TPU_LOG_DIR='disabled',
                               LIBTPU_INIT_ARGS='--xla_jf_dump'
                               f'_static_llo_profile_to={folder}/profile')
            done = subprocess.run([self.xlatext, 'ahead', self.plugin, AHEAD, f'{folder}/module'],
                                  env=environment, preexec_fn=on_all_processors,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  errors='replace')
            cycles = {}
            for name in glob.glob(f'{folder}/profile/*.textproto'):
                with open(name) as file:
                    for op, each, count in ESTIMATE.findall(file.read()):
                        cycles[op] = cycles.get(op, 0) + int(each) * int(count)
        if not cycles:
            print(done.stderr[-3000:], file=sys.stderr)
        return cycles, done.returncode == 0


SIZES = ((1024, 128), (1024, 300), (4096, 300), (16384, 300), (65536, 300))


def measure(tpuprint, xlatext, plugin, python=None, sizes=SIZES):
    """Returns all rows as a dictionary. `python` is an interpreter with JAX."""
    compiler = Compiler(xlatext, plugin)
    rows = []

    def add(name, boxes, picks, text, kernel=None):
        cycles, complete = compiler.estimate(text, kernel)
        rows.append({'name': name, 'boxes': boxes, 'picks': picks, 'cycles': sum(cycles.values()),
                     'complete': complete, 'operations': cycles})
        print(f'{name}, N={boxes} K={picks}: {sum(cycles.values())} cycles'
              f'{"" if complete else ", incomplete"}', file=sys.stderr)

    def ours(form, boxes, picks):
        text = subprocess.run([tpuprint, f'boxes={boxes}', f'picks={picks}', f'form={form}'],
                              check=True, stdout=subprocess.PIPE, text=True).stdout
        if form == 0:
            text = to_the_end(text)
        # the profiler may abort in a check of its own after it wrote all operations
        add(('tiles', 'picks')[form], boxes, picks, from_boxes(text, boxes, picks), 'name.')

    if python:
        here = os.path.dirname(os.path.abspath(__file__))
        add('nms_pallas', 1024, 128, subprocess.run(
            [python, f'{here}/seedpallas.py'], check=True, stdout=subprocess.PIPE,
            text=True).stdout, 'name.')
    for boxes, picks in sizes:
        for form in (1, 0):
            ours(form, boxes, picks)
    return {'device': AHEAD, 'method': "estimated from the compiler's static schedule",
            'rows': rows}


def markdown(cycles):
    """Returns the lines of the table."""
    rows = cycles['rows']
    seed = next((r['cycles'] for r in rows if r['name'] == 'nms_pallas'), None)
    lines = ["Cycles on a TPU v5e, estimated from the compiler's static schedule; not run.", '',
             '| form | N | K | cycles | of nms_pallas |', '|---|---:|---:|---:|---:|']
    for row in rows:
        share = f'{row["cycles"] / seed:.2f}' if seed and row['boxes'] == 1024 and (
            row['picks'] == 128) else ''
        aborted = (' and a scatter, at which the profiler aborts' if row['name'] == 'nms_pallas'
                   else ', then the profiler aborts')
        note = '' if row['complete'] else aborted
        lines.append(f'| {row["name"]} | {row["boxes"]:,} | {row["picks"]} | '
                     f'{row["cycles"]:,}{note} | {share} |')
    return lines + ['']


def main():
    arguments = [a for a in sys.argv[1:] if a != '--first']
    *programs, out = arguments[:4]
    cycles = measure(*programs, *arguments[4:5],
                     sizes=SIZES[:1] if '--first' in sys.argv else SIZES)
    with open(out + '.json', 'w') as file:
        json.dump(cycles, file, indent=1)
    with open(out + '.md', 'w') as file:
        print(*markdown(cycles), sep='\n', end='', file=file)


if __name__ == '__main__':
    main()
