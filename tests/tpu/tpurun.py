# SPDX-License-Identifier: LGPL-2.1-or-later
"""
tpurun: executes the text of a kernel for TPUs operation by operation with numpy.
jaxlib's MLIR parses and verifies the text. An operation that is not known here raises
Unknown. Memory that a kernel has not written holds NaN or a large number. With `flush`, subnormal
operands and results of float operations are zero, as on a TPU.
"""
import re

import numpy as np
from jax._src.interpreters import mlir
from jax._src.lib import tpu
from jaxlib.mlir import ir


class Unknown(Exception):
    pass


# numbers of bf16 are kept as float32
DTYPES = {'f32': np.float32, 'bf16': np.float32, 'i32': np.int32, 'i1': np.bool_,
          'index': np.int64}
WILD = np.int32(0x5bad5bad)


class Type:
    """The shape and the elements of vector<8x128xf32>, tensor<1024xi32>, memref<...>, i32."""

    def __init__(self, text):
        dims, self.element = re.match(r'(?:\w+<)?((?:\d+x)*)(\w+)', str(text)).groups()
        if self.element not in DTYPES:
            raise Unknown(f'type {text}')
        self.shape = tuple(int(d) for d in dims.split('x') if d)
        self.dtype = DTYPES[self.element]

    def check(self, value):
        value = np.asarray(value)
        if value.dtype != self.dtype or value.shape != self.shape:
            raise Unknown(f'{value.dtype}{value.shape} is not {self.element} {self.shape}')
        return value

    def wild(self):
        return np.full(self.shape, np.nan if self.dtype == np.float32 else WILD, self.dtype)


def shift_right(a, b):
    return (a.view(np.uint32) >> b.view(np.uint32)).view(np.int32)


def count_bits(a):
    return np.unpackbits(a[..., None].view(np.uint8), axis=-1).sum(-1, dtype=np.int32)


def exact_bf16(value):
    """Returns numbers that bf16 holds, and refuses others."""
    if np.any(value.view(np.int32) & 0xffff):
        raise Unknown('a number that bf16 does not hold')
    return value


def whole(*values):
    """Refuses numbers with fractions, of which a sum may depend on the order."""
    if not all(np.array_equal(v, np.rint(v)) for v in values):
        raise Unknown('a sum of floats whose order matters')


def product(a, b, c):
    whole(a, b, c)
    if (np.abs(a).astype(np.float64) @ np.abs(b) + np.abs(c)).max() >= 2 ** 24:
        raise Unknown('a product whose rounding matters')
    return (a.astype(np.float64) @ b + c).astype(np.float32)


# flushed, if asked for
FLOAT = {'arith.addf': np.add, 'arith.subf': np.subtract, 'arith.mulf': np.multiply,
         'arith.maximumf': np.maximum, 'arith.minimumf': np.minimum}
EXACT = {'arith.addi': np.add, 'arith.subi': np.subtract, 'arith.muli': np.multiply,
         'arith.andi': np.bitwise_and, 'arith.ori': np.bitwise_or, 'arith.xori': np.bitwise_xor,
         'arith.shrui': shift_right, 'arith.shli': np.left_shift, 'arith.minsi': np.minimum,
         'arith.select': np.where, 'arith.truncf': exact_bf16, 'math.ctpop': count_bits}
# functions of a value and the type of the result
SHAPED = {'tpu.bitcast': lambda a, t: a.view(t.dtype), 'vector.broadcast': lambda a, t:
          np.broadcast_to(a, t.shape), 'vector.shape_cast': lambda a, t: a.reshape(t.shape),
          **dict.fromkeys(['arith.sitofp', 'arith.fptosi', 'arith.extui', 'arith.index_cast'],
                          lambda a, t: a.astype(t.dtype))}
# by the numbers of the predicates
COMPARE = {'arith.cmpf': {1: np.equal, 2: np.greater, 3: np.greater_equal, 4: np.less},
           'arith.cmpi': {0: np.equal, 1: np.not_equal, 2: np.less, 3: np.less_equal, 4: np.greater,
                          5: np.greater_equal}}
# functions, and the start values that change no result
REDUCE = {'maximumf': (np.maximum, -np.inf), 'minimumf': (np.minimum, np.inf),
          'maxsi': (np.maximum, -2 ** 31), 'minsi': (np.minimum, 2 ** 31 - 1), 'add': (np.add, 0)}
MATMUL = '#tpu.dot_dimension_numbers<[1], [0], [0], [1], [0, 0, 1, 1], [], []>'


def flushed(value):
    return (np.where(np.abs(value) < np.float32(2.0 ** -126), np.copysign(np.float32(0), value),
                     value) if value.dtype == np.float32 else value)


class Kernel:
    """One function on a sequential grid."""

    def __init__(self, text, flush=True):
        self.flush = flush
        context = mlir.make_ir_context()
        tpu.register_dialect(context)
        try:
            self.module = ir.Module.parse(text, context)
        except ir.MLIRError as error:
            raise Unknown(str(error)) from error
        self.functions = {}
        for function in self.module.body.operations:
            block = function.regions[0].blocks[0]
            name = function.attributes['sym_name'].value
            self.functions[name] = block.arguments, self.block(block)
            if name == 'main':
                self.read_head(function.attributes, block.arguments)

    def read_head(self, attributes, arguments):
        bounds, axes = list(attributes['iteration_bounds']), list(attributes['dimension_semantics'])
        if any('arbitrary' not in str(a) for a in axes) or len(axes) != len(bounds):
            raise Unknown('axes of the grid')
        self.grid, (self.images, self.steps) = len(bounds), [1, *bounds][-2:]
        self.types = [Type(a.type) for a in list(arguments)[self.grid:]]
        self.inputs = len(self.types) - attributes['scratch_operands'].value - 1
        windows = list(attributes['window_params'])
        self.windows = [w['transform_indices'].value for w in windows]
        if [tuple(w['window_bounds']) for w in windows] != [
                t.shape for t in self.types[:self.inputs + 1]]:
            raise Unknown('windows of the kernel')

    def block(self, block):
        """Returns the operations of a block as functions of the environment, which has a number or
        an array for each value of MLIR. The last one returns what the block yields."""
        return [self.operation(op) for op in block.operations]

    @staticmethod
    def execute(ops, env):
        for op in ops:
            result = op(env)
        return result

    def operation(self, op):
        name, operands = op.operation.name, list(op.operands)
        if name in self.STATEMENTS:
            return self.STATEMENTS[name](self, op, operands)
        type_ = Type(op.result.type)
        function, result = self.function(name, op, type_), op.result
        may_flush = name in FLOAT or name == 'arith.cmpf'

        def run(env):
            values = [env[v] for v in operands]
            if may_flush and self.flush:
                value = flushed(np.asarray(function(*map(flushed, values))))
            else:
                value = function(*values)
            env[result] = type_.check(value)
        return run

    def function(self, name, op, type_):
        """Returns the function of an operation without side effects."""
        attributes = op.attributes
        if name in FLOAT and type_.element == 'f32':
            return FLOAT[name]
        if name in EXACT:
            return EXACT[name]
        if name in SHAPED:
            return lambda a: SHAPED[name](a, type_)
        if name in COMPARE:
            return COMPARE[name][attributes['predicate'].value]
        if name == 'arith.constant':
            value = attributes['value']
            if type_.shape:
                value = ir.DenseElementsAttr(value).get_splat_value()
            made = np.full(type_.shape, value.value, type_.dtype)
            return lambda: made
        if name == 'tpu.iota':
            axis, = {*attributes['dimensions'], attributes['dimension'].value}
            made = np.indices(type_.shape, dtype=np.int32)[axis]
            return lambda: made
        if name == 'vector.multi_reduction':
            return self.reduction(attributes, type_)
        if name == 'vector.extract' and list(attributes['static_position']) == [0, 0]:
            return lambda a: a[0, 0]
        if name == 'tpu.transpose' and list(attributes['permutation']) == [1, 0]:
            return lambda a: a.T.copy()
        if name == 'tpu.matmul' and str(attributes['dimension_numbers']) == MATMUL:
            return product
        if name == 'vector.load':
            return lambda memory, row, col: memory[self.place(memory, row, col, type_.shape)].copy()
        raise Unknown(str(op))

    def reduction(self, attributes, type_):
        kind = re.fullmatch(r'#vector\.kind<(\w+)>', str(attributes['kind']))[1]
        function, neutral = REDUCE[kind]
        axis, = (int(a) for a in attributes['reduction_dims'])
        first = np.full(type_.shape, neutral, type_.dtype)

        def run(value, start):
            if start.tobytes() != first.tobytes():
                raise Unknown(f'{kind} starts with another value than {neutral}')
            if kind == 'add' and value.dtype == np.float32:
                whole(value)
                if np.abs(value).sum() >= 2 ** 24:
                    raise Unknown('a sum of floats whose order matters')
            return function.reduce(value, axis=axis, dtype=value.dtype)
        return run

    @staticmethod
    def place(memory, row, col, shape):
        r, c = int(row), int(col)
        if r < 0 or c < 0 or r + shape[0] > memory.shape[0] or c + shape[1] > memory.shape[1]:
            raise Unknown(f'access at {r}, {c} of {shape} in {memory.shape}')
        return slice(r, r + shape[0]), slice(c, c + shape[1])

    # ---- statements

    def store(self, op, operands):
        def run(env):
            value, memory, row, col = (env[v] for v in operands)
            memory[self.place(memory, row, col, value.shape)] = value
        return run

    def condition(self, op, operands):
        body = self.block(op.regions[0].blocks[0])

        def run(env):
            if env[operands[0]]:
                self.execute(body, env)
        return run

    def loop(self, op, operands):
        block, (first, last, step, *start) = op.regions[0].blocks[0], operands
        body, (index, *carried), results = self.block(block), block.arguments, list(op.results)

        def run(env):
            now = [env[v] for v in start]
            if env[step] <= 0:
                raise Unknown('a loop that does not advance')
            for i in range(int(env[first]), int(env[last]), int(env[step])):
                env[index] = np.asarray(i, np.int64)
                env.update(zip(carried, now))
                now = self.execute(body, env)
            env.update(zip(results, now))
        return run

    def leave(self, op, operands):
        return lambda env: [env[v] for v in operands]

    STATEMENTS = {'vector.store': store, 'scf.if': condition, 'scf.for': loop, 'scf.yield': leave,
                  'func.return': leave}

    # ---- running

    def call(self, name, image, step, memory):
        """Runs a function at a place of the grid."""
        arguments, ops = self.functions[name]
        place = [np.asarray(n, np.int32) for n in (image, step)][-self.grid:]
        return self.execute(ops, dict(zip(arguments, place + memory)))

    def window(self, k, image, step):
        """Returns the rows of an array that a step gets."""
        block, zero = self.call(self.windows[k], image, step, [])
        if zero:
            raise Unknown('a window beyond the columns')
        rows = self.types[k].shape[0]
        return slice(block * rows, (block + 1) * rows)

    def run(self, inputs):
        """Runs all steps of the grid, one after another; returns the result's array."""
        if len(inputs) != self.inputs:
            raise Unknown(f'{len(inputs)} inputs of {self.inputs}')
        memory, results = [t.wild() for t in self.types], []
        for image in range(self.images):
            memory[self.inputs] = self.types[self.inputs].wild()
            for step in range(self.steps):
                if self.window(self.inputs, image, step).start != image * len(memory[self.inputs]):
                    raise Unknown('the window of the result')
                given = [t.check(v[self.window(k, image, step)])
                         for k, (t, v) in enumerate(zip(self.types, inputs))]
                memory[:self.inputs] = [g.copy() for g in given]
                self.call('main', image, step, memory)
                if any(a.tobytes() != b.tobytes() for a, b in zip(memory, given)):
                    raise Unknown('the kernel wrote to an input')
            results.append(memory[self.inputs])
        return np.concatenate(results)
