#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tputests GROUP MOSAICPRINT XLATEXT REFRUN: tests kernels for TPUs without a TPU.

evaluated   the text of a module gives the reference's results: XLA's plugin for the CPU
            ($NMS_TEST_XLA_PLUGIN) runs the StableHLO, an evaluator the kernel
mutants     a named case detects each text with one error
compiled    libtpu ($NMS_TEST_LIBTPU) compiles the same texts for v5e and v6e
translated  the kernel's step, translated to StableHLO and run by the same plugin, leaves the
            same memory as the evaluator
network     a convolutional network with decoding and NMS behind it is one program: libtpu
            compiles it for v5e and v6e, and XLA's plugin for the CPU runs it

Prints TAP. A group that needs a plugin is skipped if its variable is not set.
"""
import functools
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print('1..0 # SKIP numpy is not installed')
    sys.exit(0)

import networktext
import tpumutants
import tputranslate
from tpucases import Case, F, Reference, boxes_of, cases
from tpueval import Module, Xla
from tpurun import Unknown

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
    def __init__(self, tpuprint, xlatext, refrun):
        self.tpuprint, self.xlatext = tpuprint, xlatext
        self.reference = Reference(refrun)

    @functools.cached_property
    def xla(self):
        plugin = os.environ.get('NMS_TEST_XLA_PLUGIN')
        return Xla(self.xlatext, plugin or skip('NMS_TEST_XLA_PLUGIN names no plugin'))

    @functools.lru_cache(maxsize=None)
    def limit(self, threshold, inclusive):
        bits = '%08x' % int(F(threshold).view(np.uint32))
        words = subprocess.run([self.tpuprint, 'limit', bits, str(int(inclusive))], check=True,
                               stdout=subprocess.PIPE, text=True).stdout.split()
        return np.array([int(w, 16) for w in words], np.uint32).view(F)

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

    def picks(self, case, images):
        """Returns what the run must return."""
        picks = np.stack([self.reference(c) for c in case.images(images)])
        return picks if images > 1 else picks[0]


def evaluated(tap, tools):
    for case in cases():
        must = tools.reference(case)
        for form in forms_of(case):
            for flush in (True, False):
                got = Module(tools.module(case, form), flush).run(case.arguments(tools.limit),
                                                                    tools.xla)
                name = f'{FORMS[form]}: {case.name}{"" if flush else ", with subnormals"}'
                tap.check(np.array_equal(got, must), name, f'{got}\nmust be {must}')
    images(tap, tools)


def images(tap, tools):
    """Several images in one call, of which each has a result of its own."""
    known = {case.name: case for case in cases()}
    names = ('random', 'classes', 'class caps', 'one box', '1100 boxes with caps')
    for name in names:
        got = Module(tools.module(known[name], 0, 3)).run(tools.arguments(known[name], 3),
                                                          tools.xla)
        must = tools.picks(known[name], 3)
        tap.check(np.array_equal(got, must), f'3 images of {name}',
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
            got = Module(text).run(tools.arguments(case, mutant.images), tools.xla)
            tap.check(not np.array_equal(got, must), name, 'the result is the same')
        except (Unknown, LookupError) as error:
            tap.check(False, name, f'{type(error).__name__}: {error}')


def compiled(tap, tools):
    plugin = os.environ.get('NMS_TEST_LIBTPU') or skip('NMS_TEST_LIBTPU names no plugin')
    specs = ['boxes=1024 picks=128', 'boxes=1024 picks=128 classes=1', 'boxes=1 picks=1',
             'boxes=8192 picks=300 classes=1', 'boxes=1000 picks=700']
    by_box = ['boxes=1024 picks=128 classes=1 box_limits=1 class_caps=1',
              'boxes=1000 picks=700 classes=1 class_caps=1 class_agnostic=1 parents=1',
              'boxes=65536 picks=300 classes=1 box_limits=1 class_caps=1']
    batches = ['images=64 boxes=1024 picks=128', 'images=3 boxes=1 picks=1',
               'images=4 boxes=8192 picks=300 classes=1 box_limits=1 class_caps=1 parents=1']
    demonstrations = ['boxes=1024 picks=128', 'boxes=1 picks=1', 'boxes=262144 picks=300']
    # several processes may compile at the same time
    environment = dict(os.environ, ALLOW_MULTIPLE_LIBTPU_LOAD='1', TPU_SKIP_MDS_QUERY='1',
                       TPU_LOG_DIR='disabled')
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, 'module')
        for topology in ('v5e:2x2', 'v6e:2x2'):
            for form, words in [(0, s) for s in specs + by_box + batches] + [
                    (1, s) for s in demonstrations]:
                with open(name, 'w') as file:
                    file.write(tools.text([f'form={form}', *words.split()]))
                done = subprocess.run([tools.xlatext, 'ahead', plugin, topology, name],
                                      env=environment, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, errors='replace')
                tap.check(done.returncode == 0, f'{FORMS[form]}: {words} for {topology}',
                          done.stdout[-2000:])
            # the compiler refuses a kernel with an error
            with open(name, 'w') as file:
                file.write(tpumutants.broken(tools.text(specs[0].split())))
            done = subprocess.run([tools.xlatext, 'ahead', plugin, topology, name],
                                  env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors='replace')
            tap.check(done.returncode == 1 and 'Mosaic' in done.stdout,
                      f'a broken kernel is refused for {topology}', done.stdout[-2000:])


def network_runs(xla, text):
    """Runs the network of networktext and returns whether its picks are those of its boxes."""
    import nmscore
    g, channels = np.random.default_rng(5), networktext.CHANNELS + (84,)
    given = [g.normal(0, 1, (3, 256 * 256))] + [
        g.normal(0, 1, (b, a if b == 84 else 9 * a)) for a, b in zip(channels, channels[1:])]
    made = {'picks': (np.int32, (128,)), 'count': (np.int32, ()), 'boxes': (F, (1024, 4)),
            'scores': (F, (1024,)), 'classes': (np.int32, (1024,))}
    out = dict(zip(made, xla.run(text, [a.astype(F) for a in given], list(made.values()))))
    kept = nmscore.batched_nms(out['boxes'], out['scores'], out['classes'], 0.5)
    return out['count'] == min(128, len(kept)) > 50 and np.array_equal(
        out['picks'][:out['count']], kept[:128])


def network(tap, tools):
    libtpu = os.environ.get('NMS_TEST_LIBTPU') or skip('NMS_TEST_LIBTPU names no plugin')
    xla = tools.xla  # (skips the group without the plugin)
    try:
        from nmscore import export
    except ImportError:
        skip('the Python package nmscore is not built')
    environment = dict(os.environ, ALLOW_MULTIPLE_LIBTPU_LOAD='1', TPU_SKIP_MDS_QUERY='1',
                       TPU_LOG_DIR='disabled')

    def text(platform):
        return networktext.joined(
            export.program(platform, 1024, head_classes=80, max_detections=128).text)

    with tempfile.TemporaryDirectory() as folder:
        with open(f'{folder}/module', 'w') as file:
            file.write(text('tpu'))
        for topology in ('v5e:2x2', 'v6e:2x2'):
            done = subprocess.run([tools.xlatext, 'ahead', libtpu, topology, f'{folder}/module'],
                                  env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors='replace')
            tap.check(done.returncode == 0, f'a network for {topology}', done.stdout[-2000:])
    tap.check(network_runs(xla, text('cpu')), 'a network on the CPU')


def translated(tap, tools):
    g = np.random.default_rng(7)
    n = 200
    score = g.integers(0, 100, n)
    for form, case in [(1, Case('picks', boxes_of(g, n, 0.5), score, 8, 0.3)),
                       (0, Case('tiles', boxes_of(g, n, 0.5), score, 150, 0.3,
                                classes=g.integers(0, 3, n),
                                class_options={0: (0.2, 0), 1: (0.6, 9)}))]:
        module = Module(tools.module(case, form))
        for name, ok, why in tputranslate.compare(module, case.arguments(tools.limit), tools.xla):
            tap.check(ok, f'{case.name}: {name}', why)


def main():
    group, *programs = sys.argv[1:]
    tap, tools = Tap(), Tools(*programs)
    {'evaluated': evaluated, 'mutants': mutants, 'compiled': compiled,
     'translated': translated, 'network': network}[group](tap, tools)
    if 'xla' in vars(tools):
        tools.xla.close()
    tap.finish()


if __name__ == '__main__':
    main()
