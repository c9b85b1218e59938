# SPDX-License-Identifier: LGPL-2.1-or-later
"""
tputranslate: translates a kernel's step to StableHLO, so that XLA runs it.

Each line of the step is translated alone: arrays of the chip's memory become values
that loads slice and stores update. The program that XLA compiles for the CPU must leave
the same memory, bit for bit, as the evaluator, which implements the operations
independently. Blocks under a condition are translated if the evaluator entered them;
loops are unrolled.
"""
import re

import numpy as np

from tpurun import VALUE, Type, Unknown

BINARY = {
    'arith.addf': 'add', 'arith.subf': 'subtract', 'arith.mulf': 'multiply',
    'arith.maximumf': 'maximum', 'arith.minimumf': 'minimum', 'arith.addi': 'add',
    'arith.subi': 'subtract', 'arith.muli': 'multiply', 'arith.andi': 'and', 'arith.ori': 'or',
    'arith.xori': 'xor', 'arith.minsi': 'minimum', 'arith.shrui': 'shift_right_logical',
    'arith.shli': 'shift_left',
}
ORDER = {'ogt': 'GT', 'oge': 'GE', 'olt': 'LT', 'oeq': 'EQ', 'sgt': 'GT', 'sge': 'GE',
         'slt': 'LT', 'sle': 'LE', 'eq': 'EQ', 'ne': 'NE'}
REDUCE = {'maximumf': 'maximum', 'minimumf': 'minimum', 'maxsi': 'maximum', 'minsi': 'minimum',
          'add': 'add'}


def tensor(type_):
    element = 'i32' if type_.element == 'index' else type_.element
    return 'tensor<%s>' % 'x'.join([*map(str, type_.shape), element])


def outer(type_):
    """The type of an argument or result."""
    return tensor(type_).replace('bf16', 'f32')


class Step:
    """The step's lines, translated."""

    def __init__(self, kernel, first):
        self.kernel, self.first = kernel, first
        self.lines, self.names, self.count = [], {}, 0
        self.types = dict(kernel.parameters)
        for name, type_ in kernel.parameters:
            self.names[name] = name
            if type_.element == 'bf16':  # passed as f32, which holds the same numbers
                self.names[name] = self.new(self.converted(name, outer(type_), tensor(type_)))
        start = next(i for i, line in enumerate(kernel.lines) if line.startswith('func.func @main'))
        self.names['%' + kernel.step_name] = '%step'
        self.block(kernel.lines[start + 1:kernel.lines.index('return')])

    def new(self, text):
        self.count += 1
        name = f'%n{self.count}'
        self.lines.append(f'{name} = {text}')
        return name

    @staticmethod
    def converted(name, from_, into):
        return f'"stablehlo.convert"({name}) : ({from_}) -> {into}'

    def constant(self, literal, type_):
        return self.new(f'"stablehlo.constant"() {{value = dense<{literal}> : {tensor(type_)}}} : '
                        f'() -> {tensor(type_)}')

    @staticmethod
    def inside(lines, at):
        """Returns the lines of a block that starts at `at`, and the index after it."""
        depth, end = 1, at
        while depth:
            end += 1
            depth += lines[end].endswith('{')
            depth -= lines[end] == '}'
        return lines[at + 1:end], end + 1

    def block(self, lines):
        at, conditions = 0, 0
        while at < len(lines):
            line = lines[at]
            if line.startswith('scf.if'):
                body, at = self.inside(lines, at)
                # the first condition is the first step, the other that picks are missing
                if self.first or conditions:
                    self.block(body)
                conditions += 1
            elif 'scf.for' in line:
                body, at = self.inside(lines, at)
                self.loop(line, body)
            else:
                self.operation(line)
                at += 1

    def loop(self, line, body):
        m = re.fullmatch(rf'(?:(%\w+):\d+ = )?scf\.for {VALUE} = {VALUE} to {VALUE} step {VALUE}'
                         r'(?: iter_args\(([^)]*)\) -> \([^)]*\))? \{', line)
        result, index, *bounds, carried = m.groups()
        first, last, step = (self.index[b] for b in bounds)
        pairs = re.findall(rf'{VALUE} = {VALUE}', carried or '')
        now = [self.names[start] for _, start in pairs]
        for i in range(first, last, step):
            self.names[index] = self.constant(i, Type('i32'))
            self.index[index] = i
            for (name, _), value in zip(pairs, now):
                self.names[name] = value
            self.block([x for x in body if not x.startswith('scf.yield')])
            if pairs:
                names = re.match(r'scf\.yield (.*) : ', body[-1]).group(1).split(', ')
                now = [self.names[n] for n in names]
        for k, value in enumerate(now):
            self.names[f'{result}#{k}'] = value

    index = None

    def operation(self, line):
        if self.index is None:
            self.index = {}
        for pattern, method in self.FORMS:
            m = pattern.fullmatch(line)
            if m:
                return method(self, *m.groups())
        raise Unknown(line)

    def binary(self, d, op, a, b, t):
        t = tensor(Type(t))
        self.names[d] = self.new(f'"stablehlo.{BINARY[op]}"({self.names[a]}, {self.names[b]}) : '
                                 f'({t}, {t}) -> {t}')

    def compare(self, d, kind, order, a, b, t):
        type_ = Type(t)
        t, into = tensor(type_), tensor(type_).replace(type_.element, 'i1')
        self.names[d] = self.new(
            f'"stablehlo.compare"({self.names[a]}, {self.names[b]}) {{comparison_direction = '
            f'#stablehlo<comparison_direction {ORDER[order]}>, compare_type = '
            f'#stablehlo<comparison_type {"FLOAT" if kind == "cmpf" else "SIGNED"}>}} : '
            f'({t}, {t}) -> {into}')

    def select(self, d, c, a, b, mask, t):
        mask, t = tensor(Type(mask or 'i1')), tensor(Type(t))
        self.names[d] = self.new(f'"stablehlo.select"({self.names[c]}, {self.names[a]}, '
                                 f'{self.names[b]}) : ({mask}, {t}, {t}) -> {t}')

    def literal(self, d, dense, plain, t):
        type_ = Type(t)
        self.names[d] = self.constant(dense if dense is not None else plain, type_)
        if type_.element == 'index':
            self.index[d] = int(plain)

    def iota(self, d, axis, _, t):
        self.names[d] = self.new(f'"stablehlo.iota"() {{iota_dimension = {axis} : i64}} : '
                                 f'() -> {tensor(Type(t))}')

    def reduction(self, d, kind, a, start, axis, t, u):
        type_ = Type(t)
        scalar = f'tensor<{type_.element}>'
        neutral = {'maximumf': '0xFF800000', 'minimumf': '0x7F800000', 'maxsi': '-2147483648',
                   'minsi': '2147483647',
                   'add': '0x00000000' if type_.element == 'f32' else '0'}[kind]
        first = self.constant(neutral, Type(type_.element))
        self.count += 1
        x, y, z = (f'%{c}{self.count}' for c in 'xyz')
        self.names[d] = self.new(
            f'"stablehlo.reduce"({self.names[a]}, {first}) ({{\n^bb0({x}: {scalar}, {y}: {scalar}):'
            '\n'
            f'{z} = "stablehlo.{REDUCE[kind]}"({x}, {y}) : ({scalar}, {scalar}) -> {scalar}\n'
            f'"stablehlo.return"({z}) : ({scalar}) -> ()\n}}) {{dimensions = array<i64: {axis}>}} '
            f': ({tensor(type_)}, {scalar}) -> {tensor(Type(u))}')

    def turn(self, d, a, t, u):
        self.names[d] = self.new(f'"stablehlo.transpose"({self.names[a]}) {{permutation = '
                                 f'array<i64: 1, 0>}} : ({tensor(Type(t))}) -> {tensor(Type(u))}')

    def count_bits(self, d, a, t):
        t = tensor(Type(t))
        self.names[d] = self.new(f'"stablehlo.popcnt"({self.names[a]}) : ({t}) -> {t}')

    def convert(self, d, op, a, t, to, u):
        from_, into = Type(t), Type(u)
        name = {'tpu.bitcast': 'bitcast_convert', 'arith.sitofp': 'convert',
                'arith.fptosi': 'convert', 'arith.truncf': 'convert', 'arith.index_cast': 'convert',
                'vector.shape_cast': 'reshape', 'vector.broadcast': 'broadcast_in_dim'}[op]
        more = ''
        if name == 'broadcast_in_dim':
            axes = ', '.join(str(i) for i in range(len(from_.shape)))
            more = f' {{broadcast_dimensions = array<i64{": " if axes else ""}{axes}>}}'
        self.names[d] = self.new(f'"stablehlo.{name}"({self.names[a]}){more} : '
                                 f'({tensor(from_)}) -> {tensor(into)}')

    def product(self, d, a, b, sum_, t, u, v, _):
        left, right, into = (tensor(Type(x)) for x in (t, u, v))
        product = self.new(
            f'"stablehlo.dot_general"({self.names[a]}, {self.names[b]}) {{dot_dimension_numbers = '
            '#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>} '
            f': ({left}, {right}) -> {into}')
        self.names[d] = self.new(f'"stablehlo.add"({self.names[sum_]}, {product}) : '
                                 f'({into}, {into}) -> {into}')

    def first_of(self, d, a, t, u):
        self.names[d] = '%none'  # only the condition uses it, which is known

    def load(self, d, array, row, col, t, u):
        from_, into = Type(t), Type(u)
        sizes = ', '.join(map(str, into.shape))
        self.names[d] = self.new(
            f'"stablehlo.dynamic_slice"({self.names[array]}, {self.names[row]}, {self.names[col]}) '
            f'{{slice_sizes = array<i64: {sizes}>}} : ({tensor(from_)}, tensor<i32>, tensor<i32>) '
            f'-> {tensor(into)}')

    def store(self, value, array, row, col, t, u):
        into, from_ = Type(t), Type(u)
        self.names[array] = self.new(
            f'"stablehlo.dynamic_update_slice"({self.names[array]}, {self.names[value]}, '
            f'{self.names[row]}, {self.names[col]}) : ({tensor(into)}, {tensor(from_)}, tensor<i32>'
            f', tensor<i32>) -> {tensor(into)}')

    FORMS = [(re.compile(p), m) for p, m in [
        (rf'%\w+ = arith\.cmpi \w+, {VALUE}, {VALUE} : i32', lambda self, *_: None),
        (rf'{VALUE} = (arith\.\w+) {VALUE}, {VALUE} : (\S+)', binary),
        (rf'{VALUE} = arith\.(cmp[fi]) (\w+), {VALUE}, {VALUE} : (\S+)', compare),
        (rf'{VALUE} = arith\.select {VALUE}, {VALUE}, {VALUE} : (?:(\S+), )?(\S+)', select),
        (rf'{VALUE} = arith\.constant (?:dense<([^>]*)>|(\S+)) : (\S+)', literal),
        (rf'{VALUE} = tpu\.iota \{{dimension = (\d) : i32, dimensions = array<i32: (\d)>\}} '
         r': (\S+)', iota),
        (rf'{VALUE} = math\.ctpop {VALUE} : (\S+)', count_bits),
        (rf'{VALUE} = vector\.multi_reduction <(\w+)>, {VALUE}, {VALUE} \[(\d)\] : (\S+) to (\S+)',
         reduction),
        (rf'{VALUE} = vector\.extract {VALUE}\[0, 0\] : (\S+) from (\S+)', first_of),
        (rf'{VALUE} = tpu\.transpose {VALUE}, \[1, 0\] : (\S+) -> (\S+)', turn),
        (rf'{VALUE} = tpu\.matmul {VALUE}, {VALUE}, {VALUE} \{{.*\}} : (\S+), (\S+), (\S+) -> '
         r'(\S+)', product),
        (rf'{VALUE} = (\w+\.\w+) {VALUE} : (\S+) (to|->) (\S+)', convert),
        (rf'{VALUE} = vector\.load (%\w+)\[{VALUE}, {VALUE}\] : (memref<[^>]*>>), (\S+)', load),
        (rf'vector\.store {VALUE}, (%\w+)\[{VALUE}, {VALUE}\] : (memref<[^>]*>>), (\S+)', store),
    ]]

    def module(self):
        parameters = ', '.join(f'{n}: {outer(t)}' for n, t in self.kernel.parameters)
        types = ', '.join(outer(t) for _, t in self.kernel.parameters)
        for n, t in self.kernel.parameters:
            if t.element == 'bf16':
                self.names[n] = self.new(self.converted(self.names[n], tensor(t), outer(t)))
        values = ', '.join(self.names[n] for n, _ in self.kernel.parameters)
        return (f'module @step {{\nfunc.func public @main(%step: tensor<i32>, {parameters}) -> '
                f'({types}) {{\n' + '\n'.join(self.lines)
                + f'\n"func.return"({values}) : ({types}) -> ()\n}}\n}}\n')


def compare(module, arguments, xla):
    """Runs all steps both ways; yields a name, whether they agree, and the difference."""
    kernel = module.kernel
    states = []
    kernel.watch = lambda memory: states.append([memory[n].copy() for n, _ in kernel.parameters])
    module.run(arguments, xla)
    texts = {first: Step(kernel, first).module() for first in (True, False)}
    results = [(type_.dtype, type_.shape) for _, type_ in kernel.parameters]
    for step in range(kernel.steps):
        got = xla.run(texts[step == 0], [np.asarray(np.int32(step)), *states[step]], results)
        wrong = [name for (name, _), x, y in zip(kernel.parameters, got, states[step + 1])
                 if x.tobytes() != y.tobytes()]
        yield f'step {step} leaves the same memory', not wrong, f'not in {wrong}'
