#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""nmscore.lazy against numpy, the examples of docs/lazy.md, and errors. With
NMS_TEST_XLA_PLUGIN it also compares the plugin's device with the eager executor."""
import contextlib
import gc
import io
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import nmscore
from nmscore import lazy
from nmscore._lazydevice import BF16

DOCUMENT = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "lazy.md")
PLUGIN = os.environ.get("NMS_TEST_XLA_PLUGIN")
NUMBERS = np.float32([-np.inf, -1e30, -2.5, -1, -0.0, 0, 0.1, 1, 3, 1e30, np.inf, np.nan])
WORDS = np.uint32([0, 1, 2, 31, 32, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1]).view(np.int32)


def example(number):
    """Runs an example of the document. Returns its names and what it printed."""
    with open(DOCUMENT, encoding="utf-8") as file:
        code = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)[number]
    names, out, err = {}, io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        exec(code, names)
    return names, out.getvalue(), err.getvalue()


class Values(unittest.TestCase):
    plugin = None

    def setUp(self):
        self.device = lazy.use(self.plugin)
        self.random = np.random.default_rng(3)
        self.a = self.random.random((5, 7), np.float32) - np.float32(0.5)
        self.b = self.random.integers(-9, 9, (5, 7)).astype(np.int32)

    def same(self, x, wanted):
        wanted = np.asarray(wanted)
        self.assertEqual((x.shape, x.dtype), (wanted.shape, wanted.dtype))
        np.testing.assert_array_equal(x.numpy(), wanted)

    def check(self, made, wanted):
        """Computes the tensors in one program. Compares their bits; all NaN are equal."""
        lazy.compute(*made)
        for number, (x, y) in enumerate(zip(made, wanted)):
            x, y = x.numpy(), np.asarray(y)
            self.assertEqual((x.shape, x.dtype), (y.shape, y.dtype), number)
            if x.dtype == np.float32:
                x, y = (np.where(np.isnan(z), np.float32(np.nan), z).view(np.int32) for z in (x, y))
            np.testing.assert_array_equal(x, y, f"result {number}")

    def check_all(self, functions, *arrays):
        """Compares functions of a module (nmscore.lazy, numpy) and of arrays with numpy's."""
        with np.errstate(all="ignore"):
            self.check([f(lazy, *map(lazy.array, arrays)) for f in functions],
                       [f(np, *arrays) for f in functions])

    def on_both(self, function, *arrays):
        """Returns the value, whose bits are those of the eager device."""
        eager = lazy.Device()
        value = function(*(lazy.array(a, eager) for a in arrays)).numpy()
        self.check([function(*map(lazy.array, arrays))], [value])
        return value

    def test_all_pairs(self):
        """Each operation with pairs of numbers in which compilers err, and with scalars."""
        compare = [lambda m, p, q: p > q, lambda m, p, q: p >= q, lambda m, p, q: p < q,
                   lambda m, p, q: p <= q, lambda m, p, q: p == q, lambda m, p, q: p != q,
                   lambda m, p, q: m.where(p > q, p, q)]
        arithmetic = [lambda m, p, q: p + q, lambda m, p, q: p - q, lambda m, p, q: p * q,
                      lambda m, p, q: -p, lambda m, p, q: abs(q)]
        most = [lambda m, p, q: m.maximum(p, q), lambda m, p, q: m.minimum(p, q)]
        bits = [lambda m, p, q: p & q, lambda m, p, q: p | q, lambda m, p, q: p ^ q]
        divide = [lambda m, p, q: p / q]
        words, numbers = WORDS, np.delete(NUMBERS, [4, -1])  # (-0 and NaN are left open)
        masks = np.array([False, True, True])
        for functions, values in (
                (compare + arithmetic + divide, NUMBERS), (most, numbers),
                (compare + arithmetic + most + bits, words),
                (compare[2:5] + bits + [lambda m, p, q: m.where(p, q, p)], masks)):
            self.check_all(functions, values, np.roll(values, 1))
            for i in range(0, len(values), 7 if self.plugin else 1):
                self.check_all(functions, np.roll(values, i), values[i])
                self.check_all(functions, values[i], np.roll(values, i))
        self.check_all([lambda m, w: w.astype(np.float32), lambda m, w: w / 2.0 > 1], words)
        self.check_all([lambda m, p: p.astype(np.int32), lambda m, p: p.any(), lambda m, p: p.all(),
                        lambda m, p: ~p], masks)
        self.check([lazy.array(np.float32([3e9, -3e9, np.nan, 2147483520, -2**31, -1.9, np.inf,
                                           -np.inf, 2**31])).astype(np.int32)],
                   [np.int32([2**31 - 1, -2**31, 0, 2147483520, -2**31, -1, 2**31 - 1, -2**31,
                              2**31 - 1])])
        narrow = np.arange(0, 2**16, 5).astype(np.uint16)
        handle = self.device.apply("to_f32", [self.device.input(narrow, BF16)], (), 0)
        self.check([lazy.Tensor(self.device, handle)],
                   [(narrow.astype(np.uint32) << 16).view(np.float32)])

    def test_roundings(self):
        """Expressions whose value changes if a compiler contracts, reassociates or folds."""
        def bits(m, x):
            return x.apply("as_s32").apply("as_f32") if m is lazy else x
        functions = [
            lambda m, a, b, c, s: a * b + c, lambda m, a, b, c, s: c - a * b,
            lambda m, a, b, c, s: -(a * c) + b, lambda m, a, b, c, s: a * b + a * c,
            lambda m, a, b, c, s: a / 3.0, lambda m, a, b, c, s: a / 7.0 + 0.1 + 0.3,
            lambda m, a, b, c, s: a * 0.1 * 0.3, lambda m, a, b, c, s: a / b / c,
            lambda m, a, b, c, s: a / (b / c), lambda m, a, b, c, s: m.where(a < b, b * b, a) - c,
            lambda m, a, b, c, s: bits(m, c * b) + (a + 0.0), lambda m, a, b, c, s: s * s + a]
        for seed in range(2 if self.plugin else 6):
            random = np.random.default_rng(seed)
            a, b, c = (random.random((3, 1024), np.float32) - np.float32(0.5)) * np.float32(4)
            c[random.random(1024) < 0.2] = np.inf
            self.check_all(functions, a, b, c, np.float32(0.7))

    def test_exp_log_sqrt(self):
        """exp and log are near libm in the whole range; all devices give the same bits."""
        x = np.linspace(-87.3365, 88.7, 4096, dtype=np.float32)
        y = self.on_both(lazy.exp, x)
        self.assertLess(np.abs(y / np.exp(x.astype(float)) - 1).max(), 2.0**-22)
        ends = np.float32([0, -0.0, -87.33655, -np.inf, 88.7229, np.inf, np.nan])
        self.check([lazy.exp(lazy.array(ends))],
                   [np.float32([1, 1, 0, 0, np.inf, np.inf, np.nan])])
        x = np.concatenate([np.exp(x, dtype=np.float32), np.linspace(0.5, 2.5, 4096,
                                                                     dtype=np.float32)])
        y, wanted = self.on_both(lazy.log, x), np.log(x.astype(float))
        self.assertTrue((np.abs(y - wanted) < 2.0**-22 * np.maximum(np.abs(wanted), 0.25)).all())
        ends = np.float32([1, 0, -0.0, -1, -np.inf, np.nan, np.inf])
        self.check([lazy.log(lazy.array(ends))],
                   [np.float32([0, -np.inf, -np.inf, np.nan, np.nan, np.nan, np.inf])])
        wild = self.random.integers(0, 2**32, 4096, np.uint32).view(np.float32)
        wild[np.abs(wild) < 2.0**-126] = 0
        self.on_both(lazy.exp, wild)
        self.on_both(lazy.log, wild)
        self.check_all([lambda m, p: m.sqrt(p)], wild)

    def test_sum_order(self):
        """sum() adds the halves of a vector, as nmslazy.h defines it, also along an axis."""
        def halves(part):
            while len(part) > 1:
                rest = len(part) // 2
                part = np.concatenate([part[:rest] + part[len(part) - rest:],
                                       part[rest:len(part) - rest]])
            return part[0]
        for n in (1, 2, 7, 130) if self.plugin else range(1, 300, 7):
            m = self.random.normal(0, 1, (n, 5)) * np.exp(self.random.random((n, 5)) * 16)
            m = m.astype(np.float32)
            self.check([lazy.array(m).sum(0), lazy.array(m.T).sum(1), lazy.array(m[:, 0]).sum()],
                       [halves(m), halves(m), halves(m[:, 0])])

    def test_reductions_and_orders(self):
        words = self.random.integers(-2**31, 2**31, (8, 128)).astype(np.int32)
        x, y = lazy.array(words), np.float32([1, np.nan, np.inf, -0.0, 0, -np.inf, 1, -np.nan])
        for axis in range(1 if self.plugin else 2):
            self.check([x.max(axis), x.min(axis), (x & 3).argmax(axis),
                        x.apply("reduce_or", axis=axis), x.apply("reduce_and", axis=axis)],
                       [words.max(axis), words.min(axis), (words & 3).argmax(axis).astype(np.int32),
                        np.bitwise_or.reduce(words, axis), np.bitwise_and.reduce(words, axis)])
        for n in (1, 17) if self.plugin else range(1, 70):
            for first in range(0, n, 1 + n // 5):
                row = np.arange(n, dtype=np.float32) % 3 - 1
                row[[first, -1]] = 2
                self.assertEqual(int(lazy.array(row).argmax()), first)
        index = lazy.array(np.int32([2, -7, 99, 1]))
        table, row = lazy.array(np.int32([[0, 1], [10, 11], [20, 21]])), words[0]
        self.check([lazy.array(y).apply("order"), lazy.array(y.reshape(2, 4)).apply("order"),
                    table.apply("take", index), table[:, 1].apply("take", index),
                    lazy.array(row).apply("order"), (lazy.array(row) & 3).apply("order")],
                   [np.int32([2, 0, 6, 3, 4, 5, 1, 7]), np.int32([[2, 0, 3, 1], [2, 0, 1, 3]]),
                    np.int32([[20, 21], [0, 1], [20, 21], [10, 11]]), np.int32([21, 1, 21, 11]),
                    np.argsort(~row, kind="stable").astype(np.int32),
                    np.argsort(~(row & 3), kind="stable").astype(np.int32)])

    def test_places(self):
        """Slices and parts that start outside are moved inside."""
        m = np.arange(6, dtype=np.int32).reshape(2, 3)
        x, far, low = lazy.array(m), lazy.array(77), lazy.array(-3)
        part = lazy.array(np.int32([[9], [8]]))
        self.check([x.apply("slice", far, low, dims=(1, 2)), lazy.update(x, part, low, far),
                    x.apply("transpose"), lazy.arange(3).apply("broadcast", dims=(2, 3), axis=1),
                    lazy.arange(2).apply("broadcast", dims=(2, 3), axis=0), x.reshape(3, 2),
                    *(lazy.concatenate([x + i for i in range(n)], n % 2) for n in (1, 2, 8, 20))],
                   [m[1:, :2], np.int32([[0, 1, 9], [3, 4, 8]]), m.T, np.int32([[0, 1, 2]] * 2),
                    np.int32([[0] * 3, [1] * 3]), m.reshape(3, 2),
                    *(np.concatenate([m + i for i in range(n)], n % 2) for n in (1, 2, 8, 20))])

    def test_loops(self):
        """Loops that use tensors from outside: one swaps vectors, one contains another."""
        a, b = self.random.random((2, 64), np.float32)
        factor, n = lazy.array(np.float32(-0.9)), lazy.array(7)
        _, *got = lazy.while_loop(lambda i, *_: i < n,
                                  lambda i, p, q, r: (i + 1, q, p * factor + r, r * factor),
                                  (lazy.array(0), lazy.array(a), lazy.array(b), lazy.array(a * b)))
        p, q, r = a, b, a * b
        for _ in range(7):
            p, q, r = q, p * np.float32(-0.9) + r, r * np.float32(-0.9)
        self.check(got, [p, q, r])
        numbers = self.random.integers(-2**31, 2**31, 32).astype(np.int32)
        captured, picks = lazy.array(numbers), lazy.array(numbers)

        def outer(i, total, picks):
            _, total = lazy.while_loop(lambda k, s: k < i,
                                       lambda k, s: (k + 1, s + k * captured[i]),
                                       (lazy.array(0), total))
            return i + 1, total, lazy.update(picks, total, i)
        got = lazy.while_loop(lambda i, *_: i < 17, outer, (lazy.array(0), lazy.array(5), picks))
        total, wanted = np.int32(5), numbers.copy()
        with np.errstate(over="ignore"):
            for i in range(17):
                for k in range(i):
                    total += np.int32(k) * numbers[i]
                wanted[i] = total
        self.check(got, [np.int32(17), total, wanted])

    def test_operators(self):
        """Shapes that are repeated, and types that are converted, by numpy's rules."""
        a, b = self.a, self.b
        for x in (a[:, :1], a[0], a[:1], np.float32(0.3)):
            self.check_all([lambda m, p, q: p + q, lambda m, p, q: q / p, lambda m, p, q: p > q],
                           a, x)
        la, lb = lazy.array(a), lazy.array(b)
        self.same(2 - lb * 3, 2 - b * np.int32(3))
        self.same(1 / la, 1 / a)
        self.same((lb & 6) | (lb ^ 5), (b & 6) | (b ^ 5))
        self.same((la > 0) & ~(lb > 0), (a > 0) & ~(b > 0))
        self.same(la + lb, a + b.astype(np.float32))
        self.same(lb / 2, (b / 2).astype(np.float32))
        self.same(a + la, a + a)

    def test_functions(self):
        a, b = lazy.array(self.a), lazy.array(self.b)
        self.same(lazy.where(a > 0, a, 0), np.where(self.a > 0, self.a, np.float32(0)))
        self.same(lazy.where(a > 0, 1, -1), np.where(self.a > 0, 1, -1).astype(np.int32))
        self.same((a * 9).astype(np.int32), (self.a * np.float32(9)).astype(np.int32))
        for axis in (None, 0, -1):
            self.same(a.max(axis), self.a.max(axis))
            self.same(b.sum(axis), self.b.sum(axis, dtype=np.int32))
            self.same(a.argmax(axis), self.a.argmax(axis).astype(np.int32))
            self.same((a > 0).any(axis), (self.a > 0).any(axis))
            np.testing.assert_allclose(a.mean(axis).numpy(), self.a.mean(axis), rtol=1e-5)

    def test_indices(self):
        a, v = lazy.array(self.a), lazy.array(self.b[0])
        self.same(a[1:3, 2], self.a[1:3, 2])
        self.same(a[-1], self.a[-1])
        self.same(a.T[lazy.arange(3)[2]], self.a[:, 2])
        self.same(a[[3, 0]], self.a[[3, 0]])
        self.same(a.reshape(7, -1), self.a.reshape(7, 5))
        self.same(lazy.argsort(v), np.argsort(self.b[0], kind="stable").astype(np.int32))
        order = np.argsort(-self.a[0], kind="stable")[:3].astype(np.int32)
        best, index = lazy.top_k(a[0], 3)
        self.same(best, self.a[0][order])
        self.same(index, order)
        self.same(lazy.update(v, 77, 2), np.where(np.arange(7) == 2, np.int32(77), self.b[0]))
        self.assertEqual([int(x) for x in v], self.b[0].tolist())

    def test_strided_slices(self):
        a, v = lazy.array(self.a), lazy.array(self.b[0])
        cases = [np.s_[::2], np.s_[::-1], np.s_[-2:0:-3], np.s_[4:2:-1], np.s_[1:2:5]]
        for key in cases[:2] if self.plugin else cases:
            self.same(v[key], self.b[0][key])
            self.same(a[key, ::-2], self.a[key, ::-2])
            self.same(a[1, key], self.a[1, key])
        self.same(a[lazy.arange(3)[2], ::3], self.a[2, ::3])
        with self.assertRaisesRegex(IndexError, "at least one element"):
            v[3:3]
        with self.assertRaisesRegex(ValueError, "step"):
            v[::0]

    def test_concatenate(self):
        a, b = lazy.array(self.a), lazy.array(self.b)
        for axis in (-1, None):
            self.same(lazy.concatenate((a, a * 2, a[:5]), axis),
                      np.concatenate((self.a, self.a * 2, self.a[:5]), axis))
        self.same(lazy.concatenate((b, a > 0), 1), np.concatenate((self.b, self.a > 0), 1))
        self.same(lazy.concatenate((b, self.a)),
                  np.concatenate((self.b.astype(np.float32), self.a)))
        self.same(lazy.concatenate([x.reshape(1, -1) for x in a]), self.a)
        for parts, text in (((a, a[0]), r"concatenate of f32\[5,7\] and f32\[7\]"),
                            ((a, a, 2), "axis 2 of a tensor with 2 axes"),
                            ((a[0, 0], a[0, 0]), "axis 0 of a tensor with 0 axes"),
                            ((), "no tensors")):
            with self.assertRaisesRegex(ValueError, text):
                lazy.concatenate(parts[:2], *parts[2:])

    def test_matmul(self):
        """Each element is the sum of a product, with its bits."""
        a, b = lazy.array(self.a), lazy.array(self.random.random((7, 3), np.float32))
        m = lazy.array(self.b)
        for x, y in ((a, b), (b.T, a.T), (a[0], b), (a, b[:, 1]), (a[0], b[:, 1])):
            is_ = x @ y
            np.testing.assert_allclose(is_.numpy(), x.numpy() @ y.numpy(), rtol=1e-5)
            rows, columns = x.reshape(-1, 7), y.reshape(7, -1)
            for i in range(0, rows.shape[0], 3):
                for j in range(0, columns.shape[1], 2):
                    wanted = (rows[i] * columns[:, j]).sum()
                    self.assertEqual(float(is_.reshape(rows.shape[0], -1)[i, j]), float(wanted))
        self.same(m @ m.T, self.b @ self.b.T)
        self.same(self.b.T @ m, self.b.T @ self.b)
        self.same((a > 0) @ (b > 0.5), (self.a > 0) @ (b.numpy() > 0.5))
        with self.assertRaisesRegex(ValueError, r"\(5, 7\) and \(5, 7\) do not fit"):
            a @ a
        with self.assertRaisesRegex(ValueError, "scalar"):
            a @ 2

    def test_masks(self):
        a, b = self.a.copy(), self.b.copy()
        x, y = lazy.array(a), lazy.array(b)
        x[x < 0], a[a < 0] = 0, 0
        self.same(x, a)
        x[self.b > 3], a[b > 3] = -x, -a[b > 3]
        self.same(x, a)
        y[lazy.array([True, False, True, True, False])] = y[0]
        b[[0, 2, 3]] = b[0]
        self.same(y, b)
        with self.assertRaisesRegex(IndexError, "depends on values"):
            x[x > 0]
        with self.assertRaisesRegex(TypeError, "lazy.update"):
            x[0] = 1
        with self.assertRaisesRegex(IndexError, r"shape \(7,\)"):
            x[x[0] > 0] = 1
        with self.assertRaisesRegex(ValueError, r"shape mismatch.*\(5,\)"):
            x[x > 0] = x[:, 0]
        with self.assertRaisesRegex(ValueError, r"values of shape \(5, 7\) do not fit"):
            x[:1][x[:1] > 0] = x

    def test_cond(self):
        calls = []

        def double(x, n):
            calls.append("double")
            return x * 2, n + 1

        def halve(x, n):
            calls.append("halve")
            return x * 0.5, n

        x, n = lazy.array(self.a), lazy.array(3)
        for limit, factor in ((1, 2), (5, 0.5)):
            value, count = lazy.cond(n > lazy.array(limit), double, halve, x, n)
            self.same(value, self.a * np.float32(factor))
            self.assertEqual(int(count), 4 if factor == 2 else 3)
        self.assertEqual(calls, ["double", "double", "halve"] * 2)
        self.same(lazy.cond(True, lambda: x, lambda: None), self.a)
        self.same(lazy.cond(n > 4, lambda p: p, lambda p: ~p, x > 0), self.a <= 0)

        def endless(v):
            return lazy.while_loop(lambda i: i > -1, lambda i: (i * 0,), (v,))[0]

        self.assertEqual(int(lazy.cond(n < 0, endless, lambda v: v + 1, n)), 4)  # is not run
        with self.assertRaisesRegex(ValueError, r"float32\(5, 7\).*bool\(5, 7\)"):
            lazy.cond(n > 4, lambda p: p, lambda p: p > 0, x)
        with self.assertRaisesRegex(ValueError, r"shape \(5, 7\), must be a scalar"):
            lazy.cond(x > 0, lambda p: p, lambda p: p, x)
        self.same(x + 1, self.a + 1)

    def test_conversions(self):
        x = lazy.array([1.5, 2.0])
        self.assertEqual((float(x[0]), int(x[1]), bool(x[0] > 1), len(x)), (1.5, 2, True, 2))
        self.assertEqual(repr(x), "lazy.array([1.5, 2. ], dtype=float32)")
        self.same(lazy.array(np.asarray(x)), np.asarray([1.5, 2.0], np.float32))
        try:
            import ml_dtypes
        except ImportError:
            return
        half = self.a.astype(ml_dtypes.bfloat16)
        self.same(lazy.array(half), half.astype(np.float32))

    def test_examples(self):
        names, out, err = example(0)
        values = np.exp(np.asarray([0, -2, -1], np.float32))
        self.device.debug = False
        np.testing.assert_allclose(names["y"].numpy(), values, rtol=1e-6)
        self.assertRegex(out, r"^\[0.66524\d+ 0.0900\d+ 0.2447\d+\]\n$")
        self.assertRegex(err, r"^lazy (eager|xla:\w+): trace [0-9a-f]{16}, \d+ operations, "
                         r"(compiled in|found)")
        names, out, err = example(1)
        head = names["head"]
        self.same(names["low"], head[:2] - head[2:4] * np.float32(0.5))
        self.same(names["label"], head[4:].argmax(0).astype(np.int32))
        self.same(names["best"], np.sort(head[4:].max(0))[:-6:-1])

    def test_soft_nms(self):
        names, _, _ = example(2)
        corners = self.random.random((200, 4), np.float32) * np.float32(90)
        corners[:, 2:] += corners[:, :2]
        scores = self.random.random(200, np.float32)
        count, _, picks, lowered = names["soft_nms"](
            lazy.array(corners), lazy.array(scores), lazy.array(0.5), lazy.array(0.01), 200)
        kept, wanted = nmscore.soft_nms(corners, scores, sigma=0.5, score_threshold=0.01)
        self.assertEqual(int(count), len(kept))
        self.assertLess(len(kept), 200)
        np.testing.assert_array_equal(picks.numpy()[:len(kept)], kept)
        np.testing.assert_array_equal(lowered.numpy()[:len(kept)], wanted)


class Recording(unittest.TestCase):
    def setUp(self):
        self.device = lazy.use(None)

    def test_long_loop(self):
        """Tensors that Python no longer refers to are freed."""
        total = lazy.array(0.0)
        for step in range(5000):
            total = total + 1
            if step % 3 == 0:
                total.numpy()
        self.assertEqual(float(total), 5000)

    def test_long_trace(self):
        """A long trace is computed in several programs, of which two with equal work are one."""
        x = lazy.array([1.0, 2.0])
        for _ in range(20000):
            x = x + 1
        self.assertEqual(x.numpy().tolist(), [20001, 20002])
        self.assertGreater(self.device.counters["runs"], 5)
        self.assertLess(self.device.counters["misses"], 5)

    def test_many_inputs(self):
        """Arrays, constants and ranges without a name are freed, too."""
        for i in range(5000):
            lazy.array([1.0, 2.0])
            lazy.as_tensor(self.device, i, 0)
            lazy.arange(i + 1)
        self.assertEqual(self.device.counters["runs"], 0)

    def test_many_tensors(self):
        """3,000 tensors that are in use are computed; too many of them are an error that ends
        when they are freed."""
        x = [lazy.array([1.0, 2.0])]
        for _ in range(3000):
            x.append(x[-1] * 1.5 + 1)
        self.assertEqual(float(x[2][1]), 7)
        with self.assertRaisesRegex(ValueError, "more than 4096 operations"):
            for _ in range(3000):
                x.append(x[-1] * 0.5)
        self.assertEqual(float(x[2][1]), 7)
        del x
        for _ in range(3):
            self.assertEqual(float(lazy.array([1.0, 2.0]).max()), 2)

    def test_long_trace_before_loop(self):
        """A loop, whose recording cannot be divided, fits after a long trace."""
        total = lazy.array(0.0)
        for passes in range(1, 4):
            for _ in range(2040):
                total = total + 1

            def body(value):
                for _ in range(500):
                    value = value * 1.0 + 0.25
                return (value,)

            total, = lazy.while_loop(lambda v: v < passes * 4000, body, (total,))
        self.assertEqual(float(total), 12120)

    def test_read_once(self):
        x = lazy.array([1.0, 2.0])
        y = x * x
        lazy.compute(y)
        self.assertEqual((y + 1).numpy().tolist(), [2, 5])
        self.assertEqual(self.device.counters["runs"], 2)
        self.assertNotIn("multiply", lazy.trace(y - 1))

    def test_start(self):
        """compute() returns before the values exist; numpy() waits and raises errors."""
        a = np.full((300, 300), 0.5, np.float32)
        x = lazy.array(a)
        total = x
        for _ in range(150):
            total = lazy.sqrt(total * x + 0.25)
        start = time.perf_counter()
        lazy.compute(total)
        started = time.perf_counter() - start
        more = total + x  # is recorded meanwhile
        self.device.wait()
        self.assertLess(started, 0.5 * (time.perf_counter() - start))
        np.testing.assert_array_equal(more.numpy(), total.numpy() + a)
        self.assertEqual(self.device.counters["runs"], 2)
        for _ in range(3):
            lazy.compute(x * 2)  # no tensor refers to the result
        lazy.compute(x * 3)
        self.assertEqual(float((x * 4)[0, 0]), 2)

    def test_end_of_process(self):
        """A process that ends while a program is compiled or runs."""
        code = ("import sys\nfrom nmscore import lazy\nlazy.use(%r)\nx = lazy.array([1.0] * 99)\n"
                "for i in range(%d): x = lazy.exp(x)\nlazy.compute(x)")
        for count in (1, 15):
            subprocess.run([sys.executable, "-c", code % (PLUGIN, count)], check=True, timeout=60)

    def test_errors(self):
        x, y = lazy.array([1.0, 2.0]), lazy.array([1.0, 2.0, 3.0])
        for error, text, call in (
                (ValueError, r"shape mismatch.*\(2,\).*\(3,\)", lambda: x + y),
                (ValueError, r"transpose|reshape of f32\[2\] to f32\[3\]", lambda: x.reshape(3)),
                (ValueError, r"and of f32\[2\] and f32\[2\]", lambda: x & x),
                (ValueError, "another device", lambda: x + lazy.array([1.0, 2.0], lazy.Device())),
                (ValueError, "outside of int32", lambda: lazy.array([2**40])),
                (TypeError, "cannot hold", lambda: lazy.array(["a"])),
                (ValueError, "3 axes, at most 2", lambda: lazy.array(np.zeros((2, 2, 2)))),
                (ValueError, "0 programs, must be 1 or more", lambda: self.device.limit(0)),
                (RuntimeError, "", lambda: lazy.Device("/nonexistent/plugin.so")),
                (IndexError, "", lambda: x[2])):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()
        self.assertEqual((x * 2).numpy().tolist(), [2, 4])  # errors leave tensors usable

    def test_errors_in_loops(self):
        x = lazy.array([1.0, 2.0])

        def fails(s):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            lazy.while_loop(lambda s: s[0] < 9, fails, (x,))
        with self.assertRaisesRegex(ValueError, r"state 0 from f32\[2\] to f32\[\]"):
            lazy.while_loop(lambda s: s[0] < 9, lambda s: (s[0],), (x,))
        with self.assertRaisesRegex(RuntimeError, "inside a loop"):
            lazy.while_loop(lambda s: s[0] < 9, lambda s: (s.numpy(),), (x,))
        leaked = []
        done, = lazy.while_loop(lambda s: s[0] < 9, lambda s: leaked.append(s) or (s + s,), (x,))
        with self.assertRaisesRegex(ValueError, "used outside"):
            leaked[0] + 1
        for _ in range(100):
            x = x + 1
        gc.collect()
        self.assertEqual(done.numpy().tolist(), [16, 32])
        self.assertEqual(float(x[0]), 101)

    def test_threads(self):
        """Each thread has a default device."""
        barrier = threading.Barrier(4)

        def work(_):
            barrier.wait()
            return float(lazy.array([1.0, 2.0]).sum())

        with ThreadPoolExecutor(4) as pool:
            self.assertEqual(list(pool.map(work, range(4))), [3.0] * 4)


@unittest.skipUnless(PLUGIN, "NMS_TEST_XLA_PLUGIN names no plugin")
class OnDevice(Values):
    plugin = PLUGIN

    def test_shared_programs(self):
        """Devices of a plugin share compiled programs; test-lazy-cache.c tests the limit."""
        other = lazy.Device(PLUGIN)
        for device in (self.device, other, lazy.Device(PLUGIN)):
            (lazy.array(np.arange(13), device) * 5).numpy()
        self.assertEqual((other.counters["misses"], other.counters["hits"]), (1, 2))

    def test_changing_numbers(self):
        """Python numbers that change are compiled twice. All values have the bits of programs that
        contain them."""
        eager = lazy.Device()

        def work(x, i):
            part = lazy.exp(x * (0.1 * i) - i / 3) / (i + 0.7)
            return (part + x[i] * x[i + 2]).sum(0)

        for i in range(1, 9):
            np.testing.assert_array_equal(work(lazy.array(self.a[0:1].repeat(12, 0)), i).numpy(),
                                          work(lazy.array(self.a[0:1].repeat(12, 0), eager),
                                               i).numpy())
        self.assertLessEqual(self.device.counters["misses"], 3)

    def test_programs_in_files(self):
        """Programs are loaded from files; a damaged or foreign file is replaced."""
        def work():
            os.environ.pop("NMS_XLA_PROGRAMS", None)
            lazy.array(np.arange(21)).max().numpy()  # replaces the program in memory
            os.environ["NMS_XLA_PROGRAMS"] = folder
            before = self.device.counters["misses"]
            values = lazy.exp(lazy.array(self.a.reshape(-1)[:31])).numpy()
            self.assertEqual(self.device.counters["misses"], before + 1)
            return values

        self.addCleanup(self.device.limit, 32)
        self.addCleanup(os.environ.pop, "NMS_XLA_PROGRAMS", None)
        self.device.limit(1)
        with tempfile.TemporaryDirectory() as parent:
            folder = os.path.join(parent, "programs")
            values = work()
            name, = os.listdir(folder)
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                whole = file.read()
            number = os.stat(path).st_ino
            np.testing.assert_array_equal(work(), values)
            self.assertEqual(os.stat(path).st_ino, number)  # is loaded and not written
            changed = [whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1:] for i in (3, 9, 99, -9)]
            for damaged in (b"", whole[:20], whole[:-1], whole + b"x", *changed):
                with open(path, "wb") as file:
                    file.write(damaged)
                number = os.stat(path).st_ino
                np.testing.assert_array_equal(work(), values)
                self.assertNotEqual(os.stat(path).st_ino, number)
            self.assertEqual(os.listdir(folder), [name])
            os.unlink(path)
            os.chmod(folder, 0o777)
            np.testing.assert_array_equal(work(), values)
            self.assertEqual(os.listdir(folder), [])
            folder = __file__  # no folder
            np.testing.assert_array_equal(work(), values)

    def test_resident(self):
        """What stays on the device is not copied."""
        x = lazy.array(self.a)
        y = abs(x)
        lazy.compute(y)
        z = (y + x).max(1)
        lazy.compute(z)
        self.assertEqual([self.device.counters[k] for k in ("sent", "fetched")], [1, 0])
        z.numpy()
        z.numpy()
        self.assertEqual([self.device.counters[k] for k in ("sent", "fetched")], [1, 1])


if __name__ == "__main__":
    unittest.main()
