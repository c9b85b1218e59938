# SPDX-License-Identifier: LGPL-2.1-or-later
"""
tpumutants: texts of kernels with one error, each with the case of tpucases that
detects it. A mutant replaces a pattern, which must occur the given number of times
(None: at least once), because a mutant without an effect would test nothing. Text that
occurs several times, such as the overlap tests of a tile, is changed everywhere.
"""
import base64
import re

BODY = re.compile(r'(\\22body\\22: \\22)([A-Za-z0-9+/=]*)(\\22)')
TILES, PICKS = 0, 1


class Mutant:
    def __init__(self, form, name, case, pattern, replacement, times=1, only=None, module=False,
                 images=1):
        self.form, self.name, self.case = form, name, case
        self.pattern, self.replacement, self.times = re.compile(pattern), replacement, times
        self.only = only      # number of the occurrence; None: all
        self.images = images  # images in a run
        self.module = module  # in the module's text, not the kernel's

    def edit(self, text):
        places = list(self.pattern.finditer(text))
        if len(places) != self.times and (self.times or not places):
            raise LookupError(f'{self.name}: {len(places)} places, not {self.times}')
        for place in reversed(places if self.only is None else [places[self.only]]):
            new = (self.replacement(place) if callable(self.replacement)
                   else place.expand(self.replacement))
            text = text[:place.start()] + new + text[place.end():]
        return text

    def apply(self, module):
        return self.edit(module) if self.module else with_kernel(module, self.edit)


def with_kernel(module, edit):
    def recode(m):
        text = edit(base64.b64decode(m.group(2)).decode())
        return m.group(1) + base64.b64encode(text.encode()).decode() + m.group(3)
    return BODY.sub(recode, module)


def broken(module):
    """Returns a module whose kernel no compiler accepts: an operand does not exist."""
    return with_kernel(module, lambda t: t.replace('arith.mulf %v', 'arith.mulf %w', 1))


V = r'(%v\d+)'


def parents(form, rows, times):
    """Returns the mutants of the test of parents on values of `rows` rows."""
    t = rf'vector<{rows}x128xi32>'
    both = rf'(cmpi ne, {V}, {V} : {t}\n{V} = arith\.cmpi ne, {V}, {V} : {t}\n{V} = arith\.andi) ' \
        rf'{V}, {V}'
    return [Mutant(form, name, '300 boxes with parents', both, replacement, times)
            for name, replacement in (('a part suppresses its parent', r'\1 \8, \8'),
                                      ('a parent suppresses its part', r'\1 \9, \9'))]


def overlap(form, rows):
    """Returns the mutants of the overlap test on values of `rows` rows."""
    t = rf'vector<{rows}x128xf32>'
    mask = rf'vector<{rows}x128xi1>'
    last = rf'arith\.subf {V}, {V} : {t}\n(%v\d+ = arith\.constant dense<0x00000000> : {t}\n' \
        rf'%v\d+ = arith\.cmpf ogt)'
    return [
        Mutant(form, '>= for >', 'a quotient of 2^-150',
               rf'arith\.cmpf ogt, {V}, {V} : {t}\n({V} = arith\.andi)',
               rf'arith.cmpf oge, \1, \2 : {t}\n\3', None),
        Mutant(form, 'the smaller of two left sides', 'random',
               rf'= arith\.minimumf {V}, {V} : {t}\n{V} = arith\.maximumf',
               rf'= arith.minimumf \1, \2 : {t}\n\3 = arith.minimumf', None),
        Mutant(form, 'one split constant', 'borderline 0.3 1',
               rf'dense<0x45800800> : {t}', f'dense<0x43800800> : {t}', None),
        Mutant(form, 'the last product left out', 'borderline 0.7 1', last,
               rf'arith.maximumf \1, \1 : {t}\n\3', None),
        Mutant(form, 'small unions not scaled', 'borderline 0.3 3.55271e-15',
               rf'dense<0x5F800000> : {t}', f'dense<0x2F800000> : {t}', None),
        Mutant(form, 'large unions not scaled', 'far',
               rf'dense<0x2F800000> : {t}', f'dense<0x5F800000> : {t}', None),
        Mutant(form, 'one area twice', 'random',
               rf'= arith\.addf {V}, {V} : {t}', rf'= arith.addf \1, \1 : {t}', None),
        Mutant(form, 'intersections of no extent count', 'smallest extents, 0',
               rf'dense<0x26800000> : {t}\n(%v\d+ = arith\.minimumf)',
               rf'dense<0x00000000> : {t}\n\1', None),
        Mutant(form, 'class ignored', 'classes',  # the last one: the form of picks lacks it
               rf'= arith\.cmpi eq, (%v\d+), %v\d+ : vector<{rows}x128xi32>\n'
               rf'(%v\d+) = arith\.andi {V}, %v\d+ : {mask}',
               rf'= arith.cmpi eq, \1, \1 : vector<{rows}x128xi32>\n'
               rf'\2 = arith.andi \3, \3 : {mask}', None),
    ]


MUTANTS = overlap(PICKS, 8)[:-1] + overlap(TILES, 32) + parents(TILES, 32, 12) + [
    Mutant(PICKS, 'a tie taken high', 'ties',
           r'minsi|2147483647', lambda m: 'maxsi' if m[0] == 'minsi' else '-2147483648', None),
    Mutant(PICKS, 'a tie of chunks taken high', '5000 boxes, tied',
           r'arith\.cmpi sgt, (.*32x128xi32>)', r'arith.cmpi sge, \1', 1),
    Mutant(PICKS, 'no self-removal', 'identical, threshold 1',
           rf'arith\.ori {V}, {V} : vector<8x128xi1>', r'arith.ori \1, \1 : vector<8x128xi1>'),
    Mutant(PICKS, 'a pick when no box is left', 'exhausted',
           rf'arith\.cmpi sgt, {V}, {V} : vector<1x1xi32>', r'arith.cmpi sge, \1, \2 : '
           r'vector<1x1xi32>'),
    Mutant(PICKS, 'a wrong base of the places', '5000 boxes',
           r'arith\.constant 128 : i32\n(%v\d+ = arith\.muli)', r'arith.constant 64 : i32\n\1'),
    Mutant(PICKS, 'places counted along the wrong axis', 'random',
           r'dimension = 1 : i32, dimensions = array<i32: 1>\} : vector<8x128xi32>',
           r'dimension = 0 : i32, dimensions = array<i32: 0>} : vector<8x128xi32>'),
    Mutant(PICKS, 'the last step dropped', 'random', r'array<i64: 128>, scratch',
           r'array<i64: 127>, scratch'),
    Mutant(PICKS, 'the run-time cap ignored', 'run-time cap',
           r'arith\.cmpf olt, (.*1x128xf32>)', r'arith.cmpf oge, \1'),

    Mutant(TILES, 'a tie sorted high', '1100 boxes', r'comparison_direction LT',
           'comparison_direction GT', module=True),
    Mutant(TILES, 'the worst sorted first', '1100 boxes', r'comparison_direction GT',
           'comparison_direction LT', module=True),
    Mutant(TILES, 'sorted absent boxes take part', '1100 boxes',
           r'"stablehlo\.select"\((%\w+), %\w+, (%\S+)\)', r'"stablehlo.select"(\1, \2, \2)',
           module=True),
    Mutant(TILES, 'a tie in a tile ranked high', 'ties', r'arith\.cmpi slt, (.*128x128xi32>)',
           r'arith.cmpi sgt, \1', 5),
    Mutant(TILES, 'a tie of tiles ranked high', 'ties', r'arith\.cmpi sge, (.*128x128xi32>)',
           r'arith.cmpi sgt, \1', 10),
    Mutant(TILES, 'the worst ranked first', 'random', r'arith\.cmpi sgt, (.*128x128xi32>)',
           r'arith.cmpi slt, \1', 36),
    Mutant(TILES, 'one tile counts twice', 'random',
           rf'arith\.addf {V}, {V} : vector<128x128xf32>', r'arith.addf \2, \2 : '
           r'vector<128x128xf32>', 64, 5),
    Mutant(TILES, 'a byte of 7 bits', 'random', r'dense<255>', 'dense<127>', None),
    Mutant(TILES, 'a byte in the wrong place', 'random', r'dense<24> : vector<8x128xi32>',
           'dense<16> : vector<8x128xi32>', None),
    Mutant(TILES, 'absent boxes take part', 'absent',
           r'(%v\d+) = arith\.constant dense<-1> : vector<1x128xi32>\n(%v\d+) = arith\.select '
           r'(%v\d+), \1, (%v\d+)', r'\1 = arith.constant dense<-1> : vector<1x128xi32>\n'
           r'\2 = arith.select \3, \4, \4', 5),
    Mutant(TILES, 'candidates before and itself', 'random',
           r'arith\.cmpi slt, (.*32x128xi32>)', r'arith.cmpi sle, \1', 8),
    Mutant(TILES, 'a kept one not noted', 'dense',
           rf'arith\.ori {V}, {V} : vector<1x128xi32>', r'arith.ori \1, \1 : vector<1x128xi32>',
           124, 5),
    Mutant(TILES, 'the last of a word always noted', 'dense',
           r'dense<2147483647> : vector<1x128xi32>', r'dense<-1> : vector<1x128xi32>', 4),
    Mutant(TILES, 'earlier words ignored', 'dense',
           rf'(arith\.andi {V}, {V} : vector<32x128xi32>\n{V} = arith\.ori) {V}, {V}',
           r'\1 \5, \5', 6),
    Mutant(TILES, 'one word shifted', 'dense', r'dense<32> : vector<32x128xi32>',
           r'dense<64> : vector<32x128xi32>', 2, 1),
    Mutant(TILES, 'two candidates with one bit', 'dense',
           r'dense<15> : vector<128x128xi32>', 'dense<14> : vector<128x128xi32>', 1),
    Mutant(TILES, 'halves of words overlap', 'dense',
           r'dense<16> : vector<(128|96|64|32)x128xi32>', r'dense<15> : vector<\1x128xi32>', 8),
    Mutant(TILES, 'a pick too many', 'exhausted', r'arith\.cmpi slt, (.*1x128xi32>)',
           r'arith.cmpi sle, \1', 2),
    Mutant(TILES, 'the first one not appended', 'random', r'arith\.cmpi sge, (.*<8x128xi32>)',
           r'arith.cmpi sgt, \1', 1),
    Mutant(TILES, 'positions do not advance', 'random',
           rf'(math\.ctpop {V} : vector<1x128xi32>\n{V} = arith\.)addi', r'\1subi', 4),
    Mutant(TILES, 'a kept one counts itself instead of those before', 'random',
           rf'arith\.subi {V}, {V}( : vector<32x128xi32>\n{V} = arith\.andi)',
           r'arith.ori \1, \1\3', 4),
    Mutant(TILES, 'always the last tile', 'random', rf'arith\.minsi {V}, {V} : i32',
           r'arith.minsi \2, \2 : i32'),
    Mutant(TILES, 'the last tile dropped', '129 boxes', r'array<i64: 2>, scratch',
           r'array<i64: 1>, scratch'),
    Mutant(TILES, 'the end a tile too early', 'few picks',
           r'arith\.cmpi slt, (%v\d+), (%v\d+) : i32', r'arith.cmpi sgt, \1, \2 : i32'),
    Mutant(TILES, 'the next image continues the picks', 'random',
           rf'vector\.store {V}, %scratch5\[', r'vector.store \1, %scratch6[', 2, 0, images=3),
    Mutant(TILES, 'a field of another column', '1100 boxes', r'dense<3> : tensor<i32>',
           'dense<6> : tensor<i32>', module=True, images=3),
    Mutant(TILES, 'limits of the wrong field', 'class limits', r'arith\.constant 768 : index',
           'arith.constant 896 : index', None),
    Mutant(TILES, 'a class cap too high by one', 'class caps',
           rf'(math\.ctpop {V} : vector<1x128xi32>\n{V} = arith\.cmpi) slt', r'\1 sle', 128),
    Mutant(TILES, 'a cap of 0 allows no box', 'class caps', r'arith\.cmpi sle, (.*32x128xi32>)',
           r'arith.cmpi slt, \1', 4),
    Mutant(TILES, 'earlier words leave more room', 'caps, agnostic',
           rf'(math\.ctpop {V} : vector<32x128xi32>\n{V} = arith\.)subi', r'\1addi', 6),
    Mutant(TILES, 'earlier tiles leave more room', 'a cap beyond a block',
           rf'(arith\.fptosi {V} : vector<32x128xf32> to vector<32x128xi32>\n{V} = arith\.)subi',
           r'\1addi', 4),
    Mutant(TILES, 'unused lanes fill a cap', 'class caps',
           rf'arith\.andi {V}, {V}( : vector<32x128xi1>\n{V} = arith\.constant '
           r'dense<0x3F800000> : vector<32x128xf32>\n%v\d+ = arith\.addf)',
           r'arith.andi \1, \1\3', 4),
    Mutant(TILES, 'a kept box of another class fills the cap', 'a cap beyond a block',
           rf'arith\.andi {V}, {V}( : vector<32x128xi1>\n{V} = arith\.constant '
           r'dense<0x3F800000> : vector<32x128xf32>\n%v\d+ = arith\.addf)',
           r'arith.andi \2, \2\3', 16),
    Mutant(TILES, 'the last of a word fills the cap', 'caps at the ends of words',
           rf'dense<2147483647>( : vector<32x128xi32>\n{V} = arith\.andi)', r'dense<-1>\1', 4),
]
