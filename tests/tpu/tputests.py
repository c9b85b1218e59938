#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tputests GROUP TPUPRINT XLATEXT: tests kernels for TPUs without a TPU.

evaluated   the text of a module gives the results of nmscore.run: jaxlib runs the StableHLO on the
            CPU, an evaluator the kernel
mutants     a named case detects each text with one error
compiled    libtpu ($NMS_TEST_LIBTPU) compiles the same texts for v5e and v6e
network     a convolutional network with decoding and NMS behind it is one program: libtpu
            compiles it for v5e and v6e, and jaxlib runs it on the CPU

Prints TAP. A group that needs libtpu is skipped if its variable is not set.
"""
import functools
import os
import subprocess
import sys
import tempfile

os.environ['JAX_PLATFORMS'] = 'cpu'

import numpy as np  # noqa: E402 (jax, which kernelcall imports, reads the variable above)

import nmscore  # noqa: E402
import networktext  # noqa: E402
import tpumutants  # noqa: E402
from kernelcall import Jaxlib, Runner  # noqa: E402
from nmscore import export  # noqa: E402
from tpucases import F, cases  # noqa: E402
from tpurun import Unknown  # noqa: E402

FORMS = {0: 'tiles', 1: 'picks'}


def forms_of(case):
    """Returns the forms that take the case: that of picks has no options of boxes."""
    return FORMS if all(word.endswith('=0') for word in case.spec()[2:]) else [0]


class Tap:
    def __init__(self):
        self.count, self.failed = 0, 0

    def check(self, ok, name, why=''):
        self.count += 1
        self.failed += not ok
        print(f'{"ok" if ok else "not ok"} {self.count} - {name}')
        for line in str(why).splitlines() if not ok else []:
            print(f'# {line}')
        sys.stdout.flush()

    def finish(self):
        print(f'1..{self.count}')
        sys.exit(self.failed > 0)


def skip(why):
    print(f'1..0 # SKIP {why}')
    sys.exit(0)


class Tools:
    def __init__(self, tpuprint, xlatext):
        self.tpuprint, self.xlatext = tpuprint, xlatext
        self.runner = Runner()

    @functools.lru_cache(maxsize=None)
    def limit(self, threshold, inclusive):
        bits = '%08x' % int(F(threshold).view(np.uint32))
        words = subprocess.run([self.tpuprint, 'limit', bits, str(int(inclusive))], check=True,
                               stdout=subprocess.PIPE, text=True).stdout.split()
        return np.array([int(w, 16) for w in words], np.uint32).view(F)

    def compile(self, topology, text):
        """Returns the exit status and the output of libtpu's compiler."""
        libtpu = os.environ.get('NMS_TEST_LIBTPU') or skip('NMS_TEST_LIBTPU names no plugin')
        # several processes may compile at the same time
        environment = dict(os.environ, ALLOW_MULTIPLE_LIBTPU_LOAD='1', TPU_SKIP_MDS_QUERY='1',
                           TPU_LOG_DIR='disabled')
        with tempfile.NamedTemporaryFile('w') as file:
            file.write(text)
            file.flush()
            done = subprocess.run([self.xlatext, 'ahead', libtpu, topology, file.name],
                                  env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors='replace')
        return done.returncode, done.stdout

    def text(self, words):
        done = subprocess.run([self.tpuprint, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout

    def module(self, case, form, images=1):
        return self.text([f'form={form}', f'images={images}', *case.spec()])

    def arguments(self, case, images):
        """Returns the arguments of a run for several images: the case and others. All images have
        the same parameters."""
        columns = zip(*[c.arguments(self.limit) for c in case.images(images)])
        return [c[0] if c[0].shape == (8, 128) else np.concatenate(c, -1) for c in columns]

    def run(self, text, arguments, flush=True):
        """Returns the picks of a module."""
        picks, = self.runner.run_text(text, arguments, flush)
        return picks

    def picks(self, case, images):
        """Returns what the run must return."""
        picks = np.stack([c.result() for c in case.images(images)])
        return picks if images > 1 else picks[0]


def evaluated(tap, tools):
    for case in cases():
        must = case.result()
        for form in forms_of(case):
            for flush in (True, False):
                got = tools.run(tools.module(case, form), case.arguments(tools.limit), flush)
                name = f'{FORMS[form]}: {case.name}{"" if flush else ", with subnormals"}'
                tap.check(np.array_equal(got, must), name, f'{got}\nmust be {must}')
        if case.name in ('random', 'classes', 'class caps', 'one box', '1100 boxes with caps'):
            # several images in one call, of which each has a result of its own
            got = tools.run(tools.module(case, 0, 3), tools.arguments(case, 3))
            must = tools.picks(case, 3)
            tap.check(np.array_equal(got, must), f'3 images of {case.name}',
                      f'{got}\nmust be {must}')


def mutants(tap, tools):
    known = {case.name: case for case in cases()}
    musts = {}
    for mutant in tpumutants.MUTANTS:
        case = known[mutant.case]
        name = f'{FORMS[mutant.form]}: {mutant.name}: found out by "{case.name}"'
        if (case.name, mutant.images) not in musts:
            musts[case.name, mutant.images] = tools.picks(case, mutant.images)
        must = musts[case.name, mutant.images]
        try:
            text = mutant.apply(tools.module(case, mutant.form, mutant.images))
            got = tools.run(text, tools.arguments(case, mutant.images))
            tap.check(not np.array_equal(got, must), name, 'the result is the same')
        except (Unknown, LookupError) as error:
            tap.check(False, name, f'{type(error).__name__}: {error}')


def compiled(tap, tools):
    specs = ['boxes=1024 picks=128', 'boxes=1024 picks=128 classes=1', 'boxes=1 picks=1',
             'boxes=8192 picks=300 classes=1', 'boxes=1000 picks=700']
    by_box = ['boxes=1024 picks=128 classes=1 box_limits=1 class_caps=1',
              'boxes=1000 picks=700 classes=1 class_caps=1 class_agnostic=1 parents=1',
              'boxes=65536 picks=300 classes=1 box_limits=1 class_caps=1']
    batches = ['images=64 boxes=1024 picks=128', 'images=3 boxes=1 picks=1',
               'images=4 boxes=8192 picks=300 classes=1 box_limits=1 class_caps=1 parents=1']
    demonstrations = ['boxes=1024 picks=128', 'boxes=1 picks=1', 'boxes=262144 picks=300']
    for topology in ('v5e:2x2', 'v6e:2x2'):
        for form, words in [(0, s) for s in specs + by_box + batches] + [
                (1, s) for s in demonstrations]:
            code, output = tools.compile(topology, tools.text([f'form={form}', *words.split()]))
            tap.check(code == 0, f'{FORMS[form]}: {words} for {topology}', output[-2000:])
        # the compiler refuses a kernel with an error
        code, output = tools.compile(topology, tpumutants.broken(tools.text(specs[0].split())))
        tap.check(code == 1 and 'Mosaic' in output, f'a broken kernel is refused for {topology}',
                  output[-2000:])


def network_runs(text):
    """Runs the network of networktext and returns whether its picks are those of its boxes."""
    g, channels = np.random.default_rng(5), networktext.CHANNELS + (84,)
    given = [g.normal(0, 1, (3, 256 * 256))] + [
        g.normal(0, 1, (b, a if b == 84 else 9 * a)) for a, b in zip(channels, channels[1:])]
    picks, count, *boxes = Jaxlib(text)(*[a.astype(F) for a in given])
    kept = nmscore.batched_nms(*boxes, 0.5)
    return count == min(128, len(kept)) > 50 and np.array_equal(picks[:count], kept[:128])


def network(tap, tools):
    def text(platform):
        return networktext.joined(
            export.program(platform, 1024, head_classes=80, max_detections=128).text)

    for topology in ('v5e:2x2', 'v6e:2x2'):
        code, output = tools.compile(topology, text('tpu'))
        tap.check(code == 0, f'a network for {topology}', output[-2000:])
    tap.check(network_runs(text('cpu')), 'a network on the CPU')


def main():
    group, *programs = sys.argv[1:]
    tap, tools = Tap(), Tools(*programs)
    {'evaluated': evaluated, 'mutants': mutants, 'compiled': compiled, 'network': network}[group](
        tap, tools)
    tap.finish()


if __name__ == '__main__':
    main()
