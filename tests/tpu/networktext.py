#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""networktext PROGRAM: a detector as one program: a convolutional network, and behind it PROGRAM,
which decodes its head of 1,024 boxes and removes duplicates. PROGRAM is a text of

    python -m nmscore.export PLATFORM 1024 --head-classes CLASSES

and the whole is written to standard output. The network has four layers: three of 3 x 3 with
stride 2 and a rectifier, and one of 1 x 1. Its arguments are matrices: an image of 256 x 256, a row
for each channel, and the weights of each layer, a row for each result.
"""
import math
import re
import sys

CHANNELS, SIDE, BOXES = (3, 16, 32, 64), 256, 1024


def shape(*dims):
    return f'tensor<{"x".join(map(str, dims))}xf32>'


def network(rows):
    """Returns the arguments of the network, and its operations, of which %head is the last."""
    arguments, lines, side, value = [], [], SIDE, 'image'

    def argument(name, rows, *dims):
        given = shape(rows, math.prod(dims))
        arguments.append(f'%{name}_rows: {given}')
        lines.append(f'%{name} = "stablehlo.reshape"(%{name}_rows) : ({given}) -> '
                     f'{shape(*(1,) * (name == "image"), rows, *dims)}')

    argument('image', CHANNELS[0], SIDE, SIDE)
    layers = zip(CHANNELS, CHANNELS[1:] + (rows,))
    for i, (inputs, outputs) in enumerate(layers):
        last = i == len(CHANNELS) - 1
        size, stride = (1, 1) if last else (3, 2)
        given, weights = shape(1, inputs, side, side), shape(outputs, inputs, size, size)
        side //= stride
        made = shape(1, outputs, side, side)
        argument(f'w{i}', outputs, inputs, size, size)
        lines.append(f'%c{i} = "stablehlo.convolution"(%{value}, %w{i}) {{window_strides = '
                     f'array<i64: {stride}, {stride}>, padding = dense<{int(not last)}> : '
                     'tensor<2x2xi64>, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x'
                     '[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, '
                     f'batch_group_count = 1 : i64}} : ({given}, {weights}) -> {made}')
        value = f'c{i}'
        if not last:
            lines += [f'%z{i} = "stablehlo.constant"() {{value = dense<0.0> : {made}}} : () -> '
                      f'{made}',
                      f'%r{i} = "stablehlo.maximum"(%c{i}, %z{i}) : ({made}, {made}) -> {made}']
            value = f'r{i}'
    lines.append(f'%head = "stablehlo.reshape"(%{value}) : ({made}) -> {shape(rows, BOXES)}')
    return arguments, lines


def joined(program):
    """Returns the network followed by a program, as one module."""
    main = re.search(rf'func\.func (?:public )?@main\(%\w+: tensor<(\d+)x{BOXES}xf32>\) -> '
                     r'\((.*)\) \{', program)
    if not main:
        sys.exit(f'networktext: the program has no head of {BOXES} boxes')
    rows, types = int(main[1]), main[2]
    arguments, lines = network(rows)
    count = len(types.split(', '))
    results = ', '.join(f'%found#{i}' for i in range(count))
    return '\n'.join(
        ['module @detector {', f'func.func public @main({", ".join(arguments)}) -> ({types}) {{',
         *lines, f'%found:{count} = "func.call"(%head) {{callee = @nms}} : '
         f'({shape(rows, BOXES)}) -> ({types})',
         f'"func.return"({results}) : ({types}) -> ()', '}',
         program[main.start():].replace(main[0], main[0].replace('@main', '@nms').replace(
             'func public', 'func private').replace('func.func @', 'func.func private @'), 1)])


if __name__ == '__main__':
    with open(sys.argv[1]) as file:
        sys.stdout.write(joined(file.read()))
