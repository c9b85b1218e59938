# SPDX-License-Identifier: LGPL-2.1-or-later
"""
tpurun: executes the text of a kernel for TPUs operation by operation with numpy.
Every line must match the one known form of its operation completely, with types and
attributes, and every operand must have the type that the line states: other text
raises Unknown. Memory that a kernel has not written holds NaN or a large number. With
`flush`, subnormal operands and results of float operations are zero, as on a TPU.
"""
import re

import numpy as np


class Unknown(Exception):
    pass


# numbers of bf16 are kept as float32
DTYPES = {'f32': np.float32, 'bf16': np.float32, 'i32': np.int32, 'i1': np.bool_,
          'index': np.int64}
VALUE = r'(%\w+(?:#\d+)?)'
WILD = np.int32(0x5bad5bad)


class Type:
    """vector<8x128xf32>, tensor<1024xi32>, memref<...>, i32: kind, shape, element."""

    def __init__(self, text):
        m = re.fullmatch(r'(vector|tensor)<((?:\d+x)*)(\w+)>', text)
        r = re.fullmatch(r'memref<((?:\d+x)*)(\w+), #tpu\.memory_space<vmem>>', text)
        if m:
            self.kind, dims, self.element = m.groups()
        elif r:
            self.kind, (dims, self.element) = 'memref', r.groups()
        else:
            self.kind, dims, self.element = 'scalar', '', text
        if self.element not in DTYPES:
            raise Unknown(f'type {text}')
        self.shape = tuple(int(d) for d in dims.split('x') if d)
        self.dtype = DTYPES[self.element]
        self.text = text

    def check(self, value):
        value = np.asarray(value)
        if value.dtype != self.dtype or value.shape != self.shape:
            raise Unknown(f'{value.dtype}{value.shape} is not {self.text}')
        return value

    def wild(self):
        return np.full(self.shape, np.nan if self.dtype == np.float32 else WILD,
                       self.dtype)


def literal(text, type_):
    """Returns the value of 3, 0x7F800000 (the bits of a float), -2147483648."""
    if re.fullmatch(r'0x[0-9A-F]{8}', text):
        if type_.element != 'f32':
            raise Unknown(f'literal {text} of {type_.text}')
        return np.full(type_.shape, np.array(int(text, 16), np.uint32).view(np.float32))
    if type_.element == 'f32':
        if not re.fullmatch(r'-?\d+\.\d+', text):
            raise Unknown(f'literal {text} of f32')
        return np.full(type_.shape, float(text), np.float32)
    if not re.fullmatch(r'-?\d+', text):
        raise Unknown(f'literal {text}')
    return np.full(type_.shape, int(text), type_.dtype)


def shift_right(a, b):
    return (a.view(np.uint32) >> b.view(np.uint32)).view(np.int32)


FLOAT = {
    'arith.addf': np.add, 'arith.subf': np.subtract, 'arith.mulf': np.multiply,
    'arith.maximumf': np.maximum, 'arith.minimumf': np.minimum,
}
INTEGER = {
    'arith.addi': np.add, 'arith.subi': np.subtract, 'arith.muli': np.multiply,
    'arith.andi': np.bitwise_and, 'arith.ori': np.bitwise_or, 'arith.xori': np.bitwise_xor,
    'arith.shrui': shift_right, 'arith.shli': np.left_shift, 'arith.minsi': np.minimum,
}
COMPARE_FLOAT = {'ogt': np.greater, 'oge': np.greater_equal, 'olt': np.less, 'oeq': np.equal}
COMPARE_INTEGER = {'sgt': np.greater, 'sge': np.greater_equal, 'slt': np.less,
                   'sle': np.less_equal, 'eq': np.equal, 'ne': np.not_equal}
REDUCE = {
    'maximumf': (np.maximum.reduce, 'f32', '0xFF800000'),
    'minimumf': (np.minimum.reduce, 'f32', '0x7F800000'),
    'maxsi': (np.maximum.reduce, 'i32', '-2147483648'),
    'minsi': (np.minimum.reduce, 'i32', '2147483647'),
    'add': (lambda a, axis: np.add.reduce(a, axis=axis, dtype=a.dtype), None, None),
}


def exact_bf16(value):
    """Returns numbers that bf16 holds, and refuses others."""
    if np.any(value.view(np.int32) & 0xffff):
        raise Unknown('a number that bf16 does not hold')
    return value


class Kernel:
    """One function on a sequential grid."""

    HEAD = re.compile(
        r'func\.func @main\((%image: i32, )?%(\w+): i32((?:, %\w+: memref<[^>]*>>)*)\) attributes '
        r'\{dimension_semantics = \[([^]]*)\], '
        r'iteration_bounds = array<i64: ((?:\d+, )?)(\d+)>, scratch_operands = (\d+) : i64, '
        r'tpu\.core_type = #tpu\.core_type<tc>, window_params = \[(.*)\]\} \{')
    WINDOW = re.compile(
        r'\{transform_indices = @(\w+), window_bounds = array<i64: (\d+), (\d+)>\}')
    # the bodies of the functions that place windows, by their names; for several images they have
    # the argument %image, too
    WHOLE, IMAGE = ['return %zero, %zero : i32, i32'], ['return %image, %zero : i32, i32']
    FIRST = ['%steps = arith.constant STEPS : i32', '%first = arith.muli %image, %steps : i32']
    INSIDE = ['%one = arith.constant 1 : i32', '%last = arith.constant LAST : i32',
              '%more = arith.addi %step, %one : i32',
              '%inside = arith.minsi %more, %last : i32']
    PLACEMENTS = {
        False: {'whole': WHOLE, 'next': INSIDE + ['return %inside, %zero : i32, i32']},
        True: {'whole': WHOLE, 'image': IMAGE,
               'first': FIRST + ['return %first, %zero : i32, i32'],
               'next': INSIDE + FIRST + ['%next = arith.addi %first, %inside : i32',
                                         'return %next, %zero : i32, i32']}}

    def __init__(self, text, flush):
        self.flush = flush
        self.lines = text.strip().split('\n')
        self.at = 0
        self.expect('module {')
        head = self.HEAD.fullmatch(self.next())
        if not head:
            raise Unknown('head of the kernel')
        image, self.step_name, parameters, axes, images, steps, scratch, windows = head.groups()
        batch = bool(image)
        if bool(images) != batch or axes.count('arbitrary') != 1 + batch:
            raise Unknown('axes of the grid')
        self.images = int(images[:-2]) if batch else 1
        self.steps, self.scratch_count = int(steps), int(scratch)
        self.parameters = [(n, Type(t)) for n, t in
                           re.findall(r', (%\w+): (memref<[^>]*>>)', parameters)]
        windowed = self.parameters[:len(self.parameters) - self.scratch_count]
        self.windows = [m[0] for m in self.WINDOW.findall(windows)]
        if windows != ', '.join(
                '{transform_indices = @%s, window_bounds = array<i64: %d, %d>}' % (w, *t.shape)
                for w, (_, t) in zip(self.windows, windowed)) or (
                    len(self.windows) != len(windowed)) or (
                        self.windows[-1] != ('image' if batch else 'whole')):
            raise Unknown('windows of the kernel')
        self.types = {}
        self.body = self.block(['return'])
        self.expect('}')
        for name, lines in self.PLACEMENTS[batch].items():
            if name in ('whole', 'image') or 'next' in self.windows:
                self.placement(name, '%image: i32, ' if batch else '', lines)
        self.expect('}')
        if self.at != len(self.lines):
            raise Unknown(self.lines[self.at])

    def next(self):
        if self.at == len(self.lines):
            raise Unknown('the text ends early')
        self.at += 1
        return self.lines[self.at - 1]

    def expect(self, line):
        got = self.next()
        if got != line:
            raise Unknown(f'{got} where {line} should be')

    def placement(self, name, image, lines):
        """Parses a function that places windows."""
        self.expect(f'func.func @{name}({image}%step: i32) -> (i32, i32) {{')
        self.expect('%zero = arith.constant 0 : i32')
        for line in lines + ['}']:
            self.expect(line.replace('LAST', str(self.steps - 1)).replace('STEPS', str(self.steps)))

    # ---- parsing: each operation becomes a function of the environment

    def block(self, ends):
        """Parses the operations up to a line of `ends`; returns a list of functions."""
        ops = []
        while True:
            line = self.next()
            if line in ends:
                return ops
            if line.startswith('scf.yield') and 'scf.yield' in ends:
                self.at -= 1
                return ops
            ops.append(self.operation(line))

    def operation(self, line):
        for pattern, method in self.FORMS:
            m = pattern.fullmatch(line)
            if m:
                return method(self, *m.groups())
        raise Unknown(line)

    def floats(self, *values):
        if not self.flush:
            return values
        return tuple(np.where(np.abs(v) < np.float32(2.0 ** -126), np.copysign(np.float32(0), v), v)
                     if v.dtype == np.float32 else v for v in values)

    def binary(self, d, op, a, b, t):
        type_ = Type(t)
        if op in FLOAT and type_.element == 'f32':
            f = FLOAT[op]

            def run(env):
                x, y = self.floats(type_.check(env[a]), type_.check(env[b]))
                env[d], = self.floats(np.asarray(f(x, y)))
        elif op in INTEGER and type_.element in ('i32', 'index') or (
                op in ('arith.andi', 'arith.ori', 'arith.xori') and type_.element == 'i1'):
            f = INTEGER[op]

            def run(env):
                env[d] = np.asarray(f(type_.check(env[a]), type_.check(env[b])))
        else:
            raise Unknown(f'{op} of {t}')
        return run

    def compare(self, d, kind, order, a, b, t):
        type_ = Type(t)
        table = COMPARE_FLOAT if kind == 'cmpf' else COMPARE_INTEGER
        if order not in table or (kind == 'cmpf') != (type_.element == 'f32'):
            raise Unknown(f'{kind} {order} of {t}')
        f = table[order]

        def run(env):
            x, y = self.floats(type_.check(env[a]), type_.check(env[b]))
            env[d] = np.asarray(f(x, y))
        return run

    def select(self, d, c, a, b, mask, t):
        type_ = Type(t)
        mask_type = Type(mask) if mask else Type('i1')
        if mask_type.element != 'i1' or mask_type.shape != type_.shape:
            raise Unknown(f'select by {mask} of {t}')

        def run(env):
            env[d] = np.where(mask_type.check(env[c]), type_.check(env[a]), type_.check(env[b]))
        return run

    def constant(self, d, dense, plain, t):
        type_ = Type(t)
        if (type_.kind == 'vector') != (dense is not None):
            raise Unknown(f'constant of {t}')
        value = literal(dense if dense is not None else plain, type_)

        def run(env):
            env[d] = value
        return run

    def iota(self, d, axis, again, t):
        type_ = Type(t)
        if axis != again or type_.element != 'i32' or len(type_.shape) != 2:
            raise Unknown(f'iota {axis} {again} of {t}')
        value = np.indices(type_.shape, dtype=np.int32)[int(axis)]

        def run(env):
            env[d] = value
        return run

    def count_bits(self, d, a, t):
        type_ = Type(t)
        if type_.element != 'i32':
            raise Unknown(f'count of bits of {t}')

        def run(env):
            octets = type_.check(env[a])[..., None].view(np.uint8)
            env[d] = np.unpackbits(octets, axis=-1).sum(-1, dtype=np.int32)
        return run

    def convert(self, d, op, a, t, to, u):
        from_, into = Type(t), Type(u)
        if op == 'tpu.bitcast' and to == '->':
            ok = from_.shape == into.shape and {from_.element, into.element} <= {'f32', 'i32'}
            def f(v): return v.view(into.dtype)
        elif op == 'arith.sitofp' and to == 'to':
            ok = from_.shape == into.shape and (from_.element, into.element) == ('i32', 'f32')
            def f(v): return v.astype(np.float32)
        elif op == 'arith.fptosi' and to == 'to':
            ok = from_.shape == into.shape and (from_.element, into.element) == ('f32', 'i32')
            def f(v): return v.astype(np.int32)
        elif op == 'arith.truncf' and to == 'to':
            ok = from_.shape == into.shape and (from_.element, into.element) == ('f32', 'bf16')
            f = exact_bf16
        elif op == 'arith.extui' and to == 'to':
            ok = from_.shape == into.shape and (from_.element, into.element) == ('i1', 'i32')
            def f(v): return v.astype(np.int32)
        elif op == 'arith.index_cast' and to == 'to':
            ok = not from_.shape and not into.shape
            ok = ok and {from_.element, into.element} == {'i32', 'index'}
            def f(v): return v.astype(into.dtype)
        elif op == 'vector.broadcast' and to == 'to':
            ok = from_.element == into.element and into.kind == 'vector' and all(
                x in (1, y) for x, y in zip(from_.shape, into.shape))
            ok = ok and len(from_.shape) in (0, 2)
            def f(v): return np.broadcast_to(v, into.shape)
        elif op == 'vector.shape_cast' and to == 'to':
            ok = from_.element == into.element
            ok = ok and int(np.prod(from_.shape)) == int(np.prod(into.shape))
            def f(v): return v.reshape(into.shape)
        else:
            ok = False
        if not ok:
            raise Unknown(f'{op} of {t} {to} {u}')

        def run(env):
            env[d] = np.asarray(f(from_.check(env[a])))
        return run

    def first(self, d, a, t, u):
        from_, into = Type(u), Type(t)
        if into.shape or from_.kind != 'vector' or into.element != from_.element or (
                len(from_.shape) != 2):
            raise Unknown(f'extract of {t} from {u}')

        def run(env):
            env[d] = np.asarray(from_.check(env[a])[0, 0])
        return run

    def turn(self, d, a, t, u):
        from_, into = Type(t), Type(u)
        if into.shape != from_.shape[::-1] or into.element != from_.element or (
                len(from_.shape) != 2):
            raise Unknown(f'transpose of {t} to {u}')

        def run(env):
            env[d] = from_.check(env[a]).T.copy()
        return run

    def reduction(self, d, kind, a, start, axis, t, u):
        from_, into = Type(t), Type(u)
        if kind not in REDUCE or len(from_.shape) != 2:
            raise Unknown(f'reduction {kind} of {t}')
        f, element, neutral = REDUCE[kind]
        axis = int(axis)
        left = from_.shape[:axis] + from_.shape[axis + 1:]
        if into.shape != left or into.element != from_.element or axis > 1 or (
                element or from_.element) != from_.element:
            raise Unknown(f'reduction {kind} of {t} to {u}')
        first = literal(neutral, into) if neutral else np.zeros(into.shape, into.dtype)
        if kind == 'add' and from_.element not in ('i32', 'f32'):
            raise Unknown(f'sum of {t}')
        counts = kind == 'add' and from_.element == 'f32'

        def run(env):
            # the start value must be the neutral element
            if into.check(env[start]).tobytes() != first.tobytes():
                raise Unknown(f'{kind} starts with another value than {neutral}')
            if counts:  # defined, because sums of small whole numbers are exact in any order
                value = env[a]
                if not np.array_equal(value, np.rint(value)) or np.abs(value).sum() >= 2 ** 24:
                    raise Unknown('a sum of floats whose order matters')
            env[d] = np.asarray(f(from_.check(env[a]), axis=axis))
        return run

    def product(self, d, a, b, sum_, t, u, v, w):
        left, right, into = Type(t), Type(u), Type(v)
        if v != w or (left.element, right.element, into.element) != ('bf16', 'bf16', 'f32') or (
                left.shape[1] != right.shape[0]) or (
                    into.shape != (left.shape[0], right.shape[1])):
            raise Unknown(f'product of {t} and {u} to {v}')

        def run(env):
            x, y, z = left.check(env[a]), right.check(env[b]), into.check(env[sum_])
            size = np.abs(x).astype(np.float64) @ np.abs(y).astype(np.float64) + np.abs(z)
            # defined, because sums of small whole numbers are exact in any order
            if not all(np.array_equal(n, np.rint(n)) for n in (x, y, z)) or not (
                    size.max() < 2 ** 24):
                raise Unknown('a product whose rounding matters')
            env[d] = (x.astype(np.float64) @ y + z).astype(np.float32)
        return run

    def place(self, env, memory, row, col, shape):
        r, c = int(env[row]), int(env[col])
        if r < 0 or c < 0 or r + shape[0] > memory.shape[0] or c + shape[1] > memory.shape[1]:
            raise Unknown(f'access at {r}, {c} of {shape} in {memory.shape}')
        return slice(r, r + shape[0]), slice(c, c + shape[1])

    def load(self, d, array, row, col, t, u):
        from_, into = Type(t), Type(u)
        self.check_access(from_, into)

        def run(env):
            memory = from_.check(env[array])
            env[d] = memory[self.place(env, memory, row, col, into.shape)].copy()
        return run

    def store(self, value, array, row, col, t, u):
        into, from_ = Type(t), Type(u)
        self.check_access(into, from_)

        def run(env):
            memory = into.check(env[array])
            memory[self.place(env, memory, row, col, from_.shape)] = from_.check(env[value])
        return run

    def check_access(self, memory, vector):
        if (memory.kind, vector.kind) != ('memref', 'vector') or len(memory.shape) != 2 or (
                len(vector.shape) != 2 or memory.element != vector.element):
            raise Unknown(f'access to {memory.text} as {vector.text}')

    def condition(self, c):
        body = self.block(['}'])

        def run(env):
            if Type('i1').check(env[c]):
                for op in body:
                    op(env)
        return run

    def loop(self, d, count, index, first, last, step, carried, types):
        pairs = re.findall(rf'{VALUE} = {VALUE}', carried or '')
        types = [Type(t) for t in (types or '').split(', ') if t]
        if len(pairs) != len(types) or len(pairs) != int(count or 0):
            raise Unknown('values carried by a loop')
        body = self.block(['scf.yield'] if pairs else ['}'])
        names = []
        if pairs:
            m = re.fullmatch(r'scf\.yield ((?:%[\w#]+(?:, )?)+) : (.*)', self.next())
            names = m.group(1).split(', ') if m else []
            if not m or m.group(2) != ', '.join(t.text for t in types) or len(names) != len(types):
                raise Unknown('end of a loop')
            self.expect('}')

        def run(env):
            now = [t.check(env[start]) for t, (_, start) in zip(types, pairs)]
            if int(env[step]) <= 0:
                raise Unknown('a loop that does not advance')
            for i in range(int(env[first]), int(env[last]), int(env[step])):
                env[index] = np.asarray(i, np.int64)
                for (name, _), value in zip(pairs, now):
                    env[name] = value
                for op in body:
                    op(env)
                now = [t.check(env[name]) for t, name in zip(types, names)]
            for k, value in enumerate(now):
                env[f'{d}#{k}'] = value
        return run

    FORMS = [(re.compile(p), m) for p, m in [
        (rf'{VALUE} = (arith\.\w+) {VALUE}, {VALUE} : (\S+)', binary),
        (rf'{VALUE} = arith\.(cmp[fi]) (\w+), {VALUE}, {VALUE} : (\S+)', compare),
        (rf'{VALUE} = arith\.select {VALUE}, {VALUE}, {VALUE} : (?:(\S+), )?(\S+)', select),
        (rf'{VALUE} = arith\.constant (?:dense<([^>]*)>|(\S+)) : (\S+)', constant),
        (rf'{VALUE} = tpu\.iota \{{dimension = (\d) : i32, dimensions = array<i32: (\d)>\}} '
         r': (\S+)', iota),
        (rf'{VALUE} = math\.ctpop {VALUE} : (\S+)', count_bits),
        (rf'{VALUE} = vector\.multi_reduction <(\w+)>, {VALUE}, {VALUE} \[(\d)\] : (\S+) to (\S+)',
         reduction),
        (rf'{VALUE} = vector\.extract {VALUE}\[0, 0\] : (\S+) from (\S+)', first),
        (rf'{VALUE} = tpu\.transpose {VALUE}, \[1, 0\] : (\S+) -> (\S+)', turn),
        (rf'{VALUE} = tpu\.matmul {VALUE}, {VALUE}, {VALUE} \{{dimension_numbers = '
         r'#tpu\.dot_dimension_numbers<\[1\], \[0\], \[0\], \[1\], \[0, 0, 1, 1\], \[\], \[\]>, '
         r'transpose_lhs_hint = false\} : (\S+), (\S+), (\S+) -> (\S+)', product),
        (rf'{VALUE} = (\w+\.\w+) {VALUE} : (\S+) (to|->) (\S+)', convert),
        (rf'{VALUE} = vector\.load (%\w+)\[{VALUE}, {VALUE}\] : (memref<[^>]*>>), (\S+)', load),
        (rf'vector\.store {VALUE}, (%\w+)\[{VALUE}, {VALUE}\] : (memref<[^>]*>>), (\S+)', store),
        (rf'scf\.if {VALUE} \{{', condition),
        (rf'(?:(%\w+):(\d+) = )?scf\.for {VALUE} = {VALUE} to {VALUE} step {VALUE}'
         r'(?: iter_args\(([^)]*)\) -> \(([^)]*)\))? \{', loop),
    ]]

    # ---- running

    def watch(self, memory):
        """Does nothing. A subclass gets the memory before the first step and after each."""

    def window(self, k, value, image, step):
        """Returns the part of input `k` that a step gets."""
        rows = self.parameters[k][1].shape[0]
        block = {'whole': 0, 'image': image, 'first': image * self.steps,
                 'next': image * self.steps + min(step + 1, self.steps - 1)}[self.windows[k]]
        return value[block * rows:(block + 1) * rows]

    def run(self, inputs):
        """Runs all steps of the grid, one after another; returns the result's array."""
        memory, results = {}, []
        windowed = len(self.parameters) - self.scratch_count
        if len(inputs) != windowed - 1:
            raise Unknown(f'{len(inputs)} inputs of {windowed - 1}')
        for k, (name, type_) in enumerate(self.parameters):
            value = self.window(k, inputs[k], 0, 0) if k < len(inputs) else type_.wild()
            memory[name] = type_.check(value).copy()
        self.watch(memory)
        result, type_ = self.parameters[windowed - 1]
        for image in range(self.images):
            memory[result] = type_.wild()
            for step in range(self.steps):
                self.step(memory, inputs, image, step)
            results.append(memory[result])
        return np.concatenate(results)

    def step(self, memory, inputs, image, step):
        """Runs a step."""
        for k, value in enumerate(inputs):
            name, type_ = self.parameters[k]
            memory[name] = type_.check(self.window(k, value, image, step)).copy()
        before = [memory[name].copy() for name, _ in self.parameters[:len(inputs)]]
        env = dict(memory)
        env['%image'] = np.asarray(image, np.int32)
        env['%' + self.step_name] = np.asarray(step, np.int32)
        for op in self.body:
            op(env)
        self.watch(memory)
        for (name, _), value in zip(self.parameters, before):
            if memory[name].tobytes() != value.tobytes():
                raise Unknown('the kernel wrote to an input')
