# SPDX-License-Identifier: LGPL-2.1-or-later
"""
tpueval: executes the text of a module, the same text that a TPU compiler gets.

    xla = Xla(xlatext, plugin)
    picks = Module(text).run(arguments, xla)    # numpy arrays in, one out

XLA's plugin for the CPU runs the StableHLO around the kernel; tpurun executes the kernel, decoded
from the custom call, and refuses unknown text.
"""
import base64
import json
import re
import subprocess
import tempfile

import numpy as np

from tpurun import VALUE, Kernel, Type, Unknown


class Xla:
    """XLA's plugin for the CPU, in a process of the program xlatext."""

    def __init__(self, xlatext, plugin):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([xlatext, 'run', plugin], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.text, self.number = None, 0

    def run(self, text, arguments, results):
        """Runs a module; returns arrays of the given types and shapes."""
        folder = self.folder.name
        if text != self.text:
            self.text, self.number = text, self.number + 1
            with open(f'{folder}/{self.number}', 'w') as file:
                file.write(text)
        words = [f'{folder}/{self.number}']
        for way, arrays in (('in', [(a.dtype, a.shape) for a in arguments]), ('out', results)):
            for i, (dtype, shape) in enumerate(arrays):
                words.append(f'{way}:{"f32" if dtype == np.float32 else "s32"}:'
                             f'{"x".join(map(str, shape))}:{folder}/{way}{i}')
        for i, array in enumerate(arguments):
            array.tofile(f'{folder}/in{i}')
        self.process.stdin.write(' '.join(words) + '\n')
        self.process.stdin.flush()
        if self.process.stdout.readline() != 'ok\n':
            raise Unknown('XLA does not run the module')
        return [np.fromfile(f'{folder}/out{i}', dtype).reshape(shape)
                for i, (dtype, shape) in enumerate(results)]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()


class Module:
    """The StableHLO around one kernel, whose result becomes an argument, and whose operands become
    results."""

    CALL = re.compile(
        rf'{VALUE} = "stablehlo\.custom_call"\(([^)]*)\) \{{call_target_name = "tpu_custom_call", '
        r'api_version = 1 : i32, has_side_effect = false, backend_config = "([^"]*)", '
        r'operand_layouts = \[([^\]]*(?:\[1, 0\][^\]]*)*)\], '
        r'result_layouts = \[dense<\[1, 0\]> : tensor<2xindex>\]\} : \(([^)]*)\) -> (\S+)', re.M)
    HEAD = re.compile(r'(func\.func @main\(.*)\) -> \((\S+)\) \{')
    END = re.compile(rf'"func\.return"\({VALUE}\) : \((\S+)\) -> \(\)')
    CONFIG_KEYS = ({'custom_call_config'}, {'custom_call_config', 'scoped_memory_configs'})

    def __init__(self, text, flush=True):
        calls = list(self.CALL.finditer(text))
        if len(calls) != 1 or text.count('"stablehlo.custom_call"') != 1:
            raise Unknown(f'{len(calls)} kernels')
        name, operands, config, layouts, types, result = calls[0].groups()
        self.kernel = Kernel(self.kernel_text(config), flush)
        self.result, types = Type(result), types.split(', ')
        if layouts != ', '.join(['dense<[1, 0]> : tensor<2xindex>'] * len(types)):
            raise Unknown('layouts of the call')
        self.operands = [Type(t) for t in types]
        text = text.replace(calls[0][0], f'{name} = "stablehlo.reshape"(%given) : ({result}) -> '
                            f'{result}')
        head, (last, made) = self.HEAD.search(text), self.END.search(text).groups()
        self.made, more = Type(made), ', '.join([*types, made])
        text = text.replace(head[0], f'{head[1]}, %given: {result}) -> ({more}) {{')
        self.text = self.END.sub(f'"func.return"({operands}, {last}) : ({more}) -> ()', text)

    def kernel_text(self, config):
        def known(pairs):
            if len({k for k, _ in pairs}) != len(pairs):
                raise Unknown('a key twice')
            return dict(pairs)
        config = json.loads(config.replace('\\22', '"'), object_pairs_hook=known)
        inner = config.get('custom_call_config', {})
        if set(config) not in self.CONFIG_KEYS or set(inner) != {'body', 'needs_layout_passes'} or (
                inner['needs_layout_passes'] is not True):
            raise Unknown(f'configuration {config.keys()} {inner.keys()}')
        for memory in config.get('scoped_memory_configs', []):
            if set(memory) != {'memory_space', 'offset', 'size'}:
                raise Unknown('configuration of the memory')
        return base64.b64decode(inner['body'], validate=True).decode('ascii')

    def run(self, arguments, xla):
        results = [(t.dtype, t.shape) for t in [*self.operands, self.made]]
        given = np.zeros(self.result.shape, self.result.dtype)
        operands = xla.run(self.text, [*arguments, given], results)[:-1]
        with np.errstate(all='ignore'):
            given = self.result.check(self.kernel.run(operands))
        return xla.run(self.text, [*arguments, given], results)[-1]
