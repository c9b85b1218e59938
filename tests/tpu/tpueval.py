# SPDX-License-Identifier: LGPL-2.1-or-later
"""
tpueval: executes the text of a module, the same text that a TPU compiler gets.

    module = Module(text)
    picks = module.run(arguments)          # numpy arrays in, one out

Executes the StableHLO around the kernel operation by operation with numpy, and the
kernel, decoded from the custom call, with tpurun. Both refuse unknown text.
"""
import base64
import functools
import json
import operator
import re

import numpy as np

from tpurun import VALUE, Kernel, Type, Unknown, literal


class Module:
    """The StableHLO around one kernel."""

    FUNCTION = re.compile(r'func\.func @main\(((?:%\w+: tensor<\w+>(?:, )?)+)\) -> '
                          r'\((tensor<\w+>)\) \{')
    CALL = re.compile(
        rf'{VALUE} = "stablehlo\.custom_call"\(([^)]*)\) \{{call_target_name = "tpu_custom_call", '
        r'api_version = 1 : i32, has_side_effect = false, backend_config = "([^"]*)", '
        r'operand_layouts = \[([^\]]*(?:\[1, 0\][^\]]*)*)\], '
        r'result_layouts = \[dense<\[1, 0\]> : tensor<2xindex>\]\} : \(([^)]*)\) -> (\S+)')
    CONFIG_KEYS = ({'custom_call_config'}, {'custom_call_config', 'scoped_memory_configs'})

    def __init__(self, text, flush=True):
        self.flush = flush
        lines = text.strip().split('\n')
        if lines[0] != 'module @nms {' or lines[-2:] != ['}', '}']:
            raise Unknown('frame of the module')
        head = self.FUNCTION.fullmatch(lines[1])
        if not head:
            raise Unknown(lines[1][:200])
        self.arguments = [(n, Type(t)) for n, t in
                          re.findall(r'(%\w+): (tensor<\w+>)', head.group(1))]
        self.result_type = Type(head.group(2))
        self.kernel_text = None
        self.kernel = None
        self.ops = []
        self.at, self.lines = 2, lines[:-2]
        while self.at < len(self.lines):
            self.ops.append(self.operation(self.next()))
        if self.kernel is None:
            raise Unknown('a module without a kernel')

    def next(self):
        if self.at == len(self.lines):
            raise Unknown('the text ends early')
        self.at += 1
        return self.lines[self.at - 1]

    def operation(self, line):
        for pattern, method in self.FORMS:
            m = pattern.fullmatch(line)
            if m:
                return method(self, *m.groups())
        raise Unknown(line[:300])

    def constant(self, d, dense, t, u):
        if t != u:
            raise Unknown(f'constant {t} {u}')
        value = literal(dense, Type(t))

        def run(env):
            env[d] = value
        return run

    def pad(self, d, a, with_, low, high, interior, t, s, u):
        from_, scalar, into = Type(t), Type(s), Type(u)
        low, high, interior = ([int(x) for x in v.split(', ')] for v in (low, high, interior))
        if any(low) or any(interior) or scalar.shape or not (
                from_.element == scalar.element == into.element) or into.shape != tuple(
                x + h for x, h in zip(from_.shape, high)) or len(high) != len(from_.shape):
            raise Unknown(f'pad {t} to {u}')

        def run(env):
            v = np.full(into.shape, scalar.check(env[with_]))
            v[tuple(slice(0, x) for x in from_.shape)] = from_.check(env[a])
            env[d] = v
        return run

    def reshape(self, d, a, t, u):
        from_, into = Type(t), Type(u)
        if from_.element != into.element or int(np.prod(from_.shape)) != int(np.prod(into.shape)):
            raise Unknown(f'reshape {t} to {u}')

        def run(env):
            env[d] = from_.check(env[a]).reshape(into.shape)
        return run

    def slice_(self, d, a, starts, sizes, t, scalars, u):
        from_, into, starts = Type(t), Type(u), starts.split(', ')
        if into.shape != tuple(int(x) for x in sizes.split(', ')) or (
                scalars != ', tensor<i32>' * len(starts)) or len(starts) != len(from_.shape):
            raise Unknown(f'slice {t} to {u}')

        def run(env):
            first = [int(Type('tensor<i32>').check(env[start])) for start in starts]
            if any(f < 0 or f + e > n for f, e, n in zip(first, into.shape, from_.shape)):
                raise Unknown(f'slice of {t} at {first}')
            env[d] = from_.check(env[a])[tuple(slice(f, f + e)
                                               for f, e in zip(first, into.shape))]
        return run

    def broadcast(self, d, a, t, u):
        from_, into = Type(t), Type(u)
        if from_.shape or from_.element != into.element:
            raise Unknown(f'broadcast of {t} to {u}')

        def run(env):
            env[d] = np.broadcast_to(from_.check(env[a]), into.shape)
        return run

    def iota(self, d, axis, t):
        type_, axis = Type(t), int(axis)
        if axis != len(type_.shape) - 1 or type_.element != 'i32':
            raise Unknown(f'iota {axis} of {t}')

        def run(env):
            env[d] = np.broadcast_to(np.arange(type_.shape[axis], dtype=np.int32), type_.shape)
        return run

    def bitcast(self, d, a, t, u):
        from_, into = Type(t), Type(u)
        if from_.shape != into.shape or {from_.element, into.element} - {'f32', 'i32'}:
            raise Unknown(f'bitcast {t} to {u}')

        def run(env):
            env[d] = from_.check(env[a]).view(into.dtype)
        return run

    def concatenate(self, d, operands, axis, types, u):
        operands, types, into = operands.split(', '), [Type(t) for t in types.split(', ')], Type(u)
        if len(operands) != len(types) or any(t.element != into.element for t in types):
            raise Unknown(f'concatenation to {u}')

        def run(env):
            env[d] = into.check(np.concatenate(
                [t.check(env[o]) for t, o in zip(types, operands)], int(axis)))
        return run

    def equal(self, d, a, b, t, u, v):
        type_ = Type(t)
        if t != u or type_.element != 'i32' or Type(v).text != t.replace('i32', 'i1'):
            raise Unknown(f'comparison of {t} and {u}')

        def run(env):
            env[d] = type_.check(env[a]) == type_.check(env[b])
        return run

    def select(self, d, c, a, b, mask, t, u, v):
        mask, type_ = Type(mask), Type(t)
        if not t == u == v or mask.element != 'i1' or mask.shape != type_.shape:
            raise Unknown(f'selection of {t} and {u}')

        def run(env):
            env[d] = np.where(mask.check(env[c]), type_.check(env[a]), type_.check(env[b]))
        return run

    # the operations of a sort's comparator; %l0 and %r0 belong to the first operand
    COMPARATOR = [(re.compile(p), f) for p, f in [
        (r'(%\w+) = "stablehlo\.compare"\((%\w+), (%\w+)\) \{comparison_direction = '
         r'#stablehlo<comparison_direction (GT|GE|EQ|LT|LE)>, compare_type = '
         r'#stablehlo<comparison_type SIGNED>\} : \(tensor<i32>, tensor<i32>\) -> tensor<i1>',
         lambda env, d, a, b, order: env.__setitem__(d, {
             'GT': operator.gt, 'GE': operator.ge, 'EQ': operator.eq,
             'LT': operator.lt, 'LE': operator.le}[order](env[a], env[b]))),
        (r'(%\w+) = "stablehlo\.(and|or)"\((%\w+), (%\w+)\) : \(tensor<i1>, tensor<i1>\) '
         r'-> tensor<i1>',
         lambda env, d, op, a, b: env.__setitem__(
             d, env[a] and env[b] if op == 'and' else env[a] or env[b])),
    ]]

    def sort(self, d, count, operands):
        operands = operands.split(', ')
        block = re.fullmatch(r'\^bb0\(((?:%\w+: tensor<\w+>(?:, )?)+)\):', self.next())
        if not block or len(operands) != int(count):
            raise Unknown('block of a sort')
        arguments = re.findall(r'(%\w+): tensor<(\w+)>', block.group(1))
        steps = []
        while True:
            line = self.next()
            end = re.fullmatch(r'"stablehlo\.return"\((%\w+)\) : \(tensor<i1>\) -> \(\)', line)
            if end:
                break
            for pattern, f in self.COMPARATOR:
                m = pattern.fullmatch(line)
                if m:
                    steps.append((f, m.groups()))
                    break
            else:
                raise Unknown(line)
        last = re.fullmatch(r'\}\) \{dimension = (\d) : i64, is_stable = false\} : '
                            r'\(([^()]*)\) -> \(([^()]*)\)', self.next())
        if not last or last.group(2) != last.group(3):
            raise Unknown('end of a sort')
        types = [Type(t) for t in last.group(2).split(', ')]
        if len(types) != len(operands) or [e for _, e in arguments] != [
                t.element for t in types for _ in (0, 1)] or len({t.shape for t in types}) != 1 or (
                len(types[0].shape) != int(last.group(1)) + 1):
            raise Unknown('types of a sort')

        def one_of(columns):
            plain = [c.tolist() for c in columns]

            def before(i, j):
                inner = {}
                for k, (name, _) in enumerate(arguments):
                    inner[name] = plain[k // 2][j if k % 2 else i]
                for f, groups in steps:
                    f(inner, *groups)
                return inner[end.group(1)]

            def order(i, j):
                first, second = before(i, j), before(j, i)
                if first == second:
                    raise Unknown('an unstable sort that does not order two elements')
                return -1 if first else 1
            rows = sorted(range(columns[0].size), key=functools.cmp_to_key(order))
            return [column[rows] for column in columns]

        def run(env):
            columns = [t.check(env[o]) for t, o in zip(types, operands)]
            images = zip(*[c.reshape(-1, c.shape[-1]) for c in columns])
            for k, column in enumerate(zip(*map(one_of, images))):
                env[f'{d}#{k}'] = np.stack(column).reshape(types[k].shape)
        return run

    def call(self, d, operands, config, layouts, types, result):
        def known(pairs):
            if len({k for k, _ in pairs}) != len(pairs):
                raise Unknown('a key twice')
            return dict(pairs)
        config = json.loads(config.replace('\\22', '"'), object_pairs_hook=known)
        inner = config.get('custom_call_config', {})
        if set(config) not in self.CONFIG_KEYS or set(inner) != {'body', 'needs_layout_passes'}:
            raise Unknown(f'configuration {set(config)} {set(inner)}')
        if inner['needs_layout_passes'] is not True or self.kernel:
            raise Unknown('configuration of the kernel')
        for memory in config.get('scoped_memory_configs', []):
            if set(memory) != {'memory_space', 'offset', 'size'}:
                raise Unknown('configuration of the memory')
        operands, types = operands.split(', '), [Type(t) for t in types.split(', ')]
        if layouts != ', '.join(['dense<[1, 0]> : tensor<2xindex>'] * len(operands)):
            raise Unknown('layouts of the call')
        self.kernel_text = base64.b64decode(inner['body'], validate=True).decode('ascii')
        self.kernel = Kernel(self.kernel_text, self.flush)
        into = Type(result)

        def run(env):
            env[d] = into.check(self.kernel.run([t.check(env[o])
                                                 for t, o in zip(types, operands)]))
        return run

    def give_back(self, a, t):
        if t != self.result_type.text or self.at != len(self.lines):
            raise Unknown('end of the function')

        def run(env):
            env['result'] = self.result_type.check(env[a])
        return run

    NUMBERS = r'array<i64: ([\d, ]+)>'
    FORMS = [(re.compile(p), m) for p, m in [
        (rf'{VALUE} = "stablehlo\.constant"\(\) \{{value = dense<(\S+)> : (tensor<\w+>)\}} : '
         r'\(\) -> (tensor<\w+>)', constant),
        (rf'{VALUE} = "stablehlo\.pad"\({VALUE}, {VALUE}\) \{{edge_padding_low = {NUMBERS}, '
         rf'edge_padding_high = {NUMBERS}, interior_padding = {NUMBERS}\}} : '
         r'\((tensor<\w+>), (tensor<\w+>)\) -> (tensor<\w+>)', pad),
        (rf'{VALUE} = "stablehlo\.reshape"\({VALUE}\) : \((tensor<\w+>)\) -> (tensor<\w+>)',
         reshape),
        (rf'{VALUE} = "stablehlo\.dynamic_slice"\({VALUE}, ([^)]*)\) '
         rf'\{{slice_sizes = {NUMBERS}\}} : '
         r'\((tensor<\w+>)((?:, tensor<i32>)+)\) -> (tensor<\w+>)', slice_),
        (rf'{VALUE} = "stablehlo\.broadcast_in_dim"\({VALUE}\) \{{broadcast_dimensions = '
         r'array<i64>\} : \((tensor<\w+>)\) -> (tensor<\w+>)', broadcast),
        (rf'{VALUE} = "stablehlo\.iota"\(\) \{{iota_dimension = (\d) : i64\}} : \(\) -> '
         r'(tensor<\w+>)', iota),
        (rf'{VALUE} = "stablehlo\.bitcast_convert"\({VALUE}\) : \((tensor<\w+>)\) -> '
         r'(tensor<\w+>)', bitcast),
        (rf'{VALUE} = "stablehlo\.concatenate"\(([^)]*)\) \{{dimension = (\d) : i64\}} : '
         r'\(([^)]*)\) -> (tensor<\w+>)', concatenate),
        (rf'{VALUE} = "stablehlo\.compare"\({VALUE}, {VALUE}\) \{{comparison_direction = '
         r'#stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type '
         r'SIGNED>\} : \((tensor<\w+>), (tensor<\w+>)\) -> (tensor<\w+>)', equal),
        (rf'{VALUE} = "stablehlo\.select"\({VALUE}, {VALUE}, {VALUE}\) : \((tensor<\w+>), '
         r'(tensor<\w+>), (tensor<\w+>)\) -> (tensor<\w+>)', select),
        (r'(%\w+):(\d+) = "stablehlo\.sort"\(([^)]*)\) \(\{', sort),
        (rf'"func\.return"\({VALUE}\) : \((tensor<\w+>)\) -> \(\)', give_back),
    ]] + [(CALL, call)]

    def run(self, arguments):
        if len(arguments) != len(self.arguments):
            raise Unknown(f'{len(arguments)} arguments of {len(self.arguments)}')
        env = {}
        for (name, type_), value in zip(self.arguments, arguments):
            env[name] = type_.check(value)
        with np.errstate(all='ignore'):
            for op in self.ops:
                op(env)
        return env['result']
