#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""nmscore.torch: its operators keep what torchvision keeps, to the last bit, and stay in compiled
and exported programs; replace_torchvision reaches torchvision's callers."""
import io
import sys
import tracemalloc
import unittest
import warnings

try:
    import numpy as np
    import torch
    import torchvision
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode
    from torchvision.models.detection.roi_heads import RoIHeads
    from torchvision.models.detection._utils import BoxCoder
    from torchvision.ops import nms as imported_before
except ImportError as error:
    print("torchvision is not installed:", error)
    sys.exit(77)

import nmscore
import nmscore.torch
from slow import integer_case, random_case

compiles = hasattr(torch.library, "register_fake")
THRESHOLDS = (0.0, 0.1, 0.3, 1 / 3, 0.45, 0.5, 0.6, 0.7, 0.9, 1.0)


def tensors(*arrays):
    return [torch.from_numpy(array) for array in arrays]


def each_class(boxes, scores, idxs, threshold):
    """Returns what torchvision keeps of each class by itself, best first."""
    kept = [torch.nonzero(idxs == i)[:, 0] for i in torch.unique(idxs)]
    kept = torch.cat([of[torchvision.ops.nms(boxes[of], scores[of], threshold)] for of in kept])
    kept = torch.sort(kept)[0]
    return kept[torch.sort(scores[kept], descending=True, stable=True)[1]]


class Case(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(5)
        torch.manual_seed(5)
        arrays = random_case(self.random, 300) + (self.random.integers(0, 4, 300),)
        self.boxes, self.scores, self.idxs = tensors(*arrays)

    def same(self, got, wanted):
        self.assertEqual(got.dtype, torch.int64)
        self.assertEqual(got.tolist(), wanted.tolist())


class Results(Case):
    def cases(self):
        """Yields random boxes with equal scores, and small whole numbers, where many overlaps
        equal a threshold."""
        for side in (0, 4, 16, 300) * 4:
            boxes, scores = (integer_case(self.random, 150, side) if side
                             else random_case(self.random, 300))
            yield tensors(np.float32(boxes), np.float32(scores),
                          self.random.integers(0, 5, len(scores)))

    def test_same_as_torchvision(self):
        for boxes, scores, idxs in self.cases():
            for threshold in THRESHOLDS:
                self.same(nmscore.torch.nms(boxes, scores, threshold),
                          torchvision.ops.nms(boxes, scores, threshold))
                self.same(nmscore.torch.batched_nms(boxes, scores, idxs, threshold),
                          each_class(boxes, scores, idxs, threshold))

    def test_types(self):
        wanted = nmscore.torch.nms(self.boxes, self.scores, 0.4)
        self.same(nmscore.torch.nms(self.boxes.double(), self.scores.double(), 0.4), wanted)
        for kind in (torch.float16, torch.bfloat16):
            boxes, scores = self.boxes.to(kind), self.scores.to(kind)
            self.same(nmscore.torch.nms(boxes, scores, 0.4),
                      torchvision.ops.nms(boxes.float(), scores.float(), 0.4))
        wanted = nmscore.torch.batched_nms(self.boxes, self.scores, self.idxs, 0.4)
        for kind in (torch.int32, torch.uint8, torch.float32, torch.float64):
            self.same(nmscore.torch.batched_nms(self.boxes, self.scores, self.idxs.to(kind), 0.4),
                      wanted)
        two = self.idxs > 1
        self.same(nmscore.torch.batched_nms(self.boxes, self.scores, two, 0.4),
                  nmscore.torch.batched_nms(self.boxes, self.scores, two.int(), 0.4))

    def test_views_gradients_and_no_boxes(self):
        wanted = nmscore.torch.nms(self.boxes, self.scores, 0.4)
        detections = torch.cat([self.boxes, self.scores[:, None]], 1)
        self.same(nmscore.torch.nms(detections[:, :4], detections[:, 4], 0.4), wanted)
        self.same(nmscore.torch.nms(self.boxes.clone().requires_grad_(),
                                    self.scores.clone().requires_grad_(), 0.4), wanted)
        none = torch.zeros(0)
        self.same(nmscore.torch.nms(torch.zeros(0, 4), none, 0.4), none)
        self.same(nmscore.torch.batched_nms(torch.zeros(0, 4), none, none, 0.4), none)

    def test_scores_with_the_bit_of_negative_numbers(self):
        scores = torch.complex(torch.zeros(300), -self.scores).conj().imag
        self.assertTrue(scores.is_neg())
        self.same(nmscore.torch.nms(self.boxes, scores, 0.4),
                  nmscore.torch.nms(self.boxes, self.scores, 0.4))

    def test_kinds_of_threshold(self):
        wanted = [nmscore.torch.nms(self.boxes, self.scores, t) for t in (0.25, 0.75)]
        threshold = torch.tensor(0.25)
        self.same(nmscore.torch.nms(self.boxes, self.scores, threshold), wanted[0])
        self.same(nmscore.torch.nms(self.boxes, self.scores, threshold.fill_(0.75)), wanted[1])
        self.same(nmscore.torch.nms(self.boxes, self.scores, np.float32(0.75)), wanted[1])
        self.same(nmscore.torch.nms(self.boxes, self.scores, 1),
                  nmscore.torch.nms(self.boxes, self.scores, 1.0))
        with self.assertRaises((TypeError, RuntimeError)):
            nmscore.torch.nms(self.boxes, self.scores, "0.5")

    def test_scripted(self):
        with warnings.catch_warnings():  # because torch deprecates it
            warnings.simplefilter("ignore")
            nms, batched = map(torch.jit.script, (nmscore.torch.nms, nmscore.torch.batched_nms))
        self.same(nms(self.boxes, self.scores, 0.4),
                  nmscore.torch.nms(self.boxes, self.scores, 0.4))
        self.same(batched(self.boxes, self.scores, self.idxs, 0.4),
                  nmscore.torch.batched_nms(self.boxes, self.scores, self.idxs, 0.4))

    def test_no_copy(self):
        boxes = torch.tensor([[0.0, 0, 9, 9]]).repeat(100000, 1)
        tracemalloc.start()
        try:
            kept = nmscore.torch.nms(boxes, torch.ones(100000), 0.5)
            self.assertLess(tracemalloc.get_traced_memory()[1], 100000)
        finally:
            tracemalloc.stop()
        self.assertEqual(kept.tolist(), [0])


class Refusals(Case):
    def test_same_errors_as_torchvision(self):
        for boxes, scores in (((4,), (4,)), ((0,), (0,)), ((3, 3), (3,)), ((3, 4), (3, 1)),
                              ((3, 4), (2,)), ((2, 3, 4), (2,))):
            messages = []
            for nms in nmscore.torch.nms, torchvision.ops.nms:
                with self.assertRaises(RuntimeError) as raised:
                    nms(torch.zeros(boxes), torch.zeros(scores), 0.5)
                messages.append(str(raised.exception).splitlines()[0])
            self.assertTrue(messages[1].endswith(messages[0]))  # after a function and a line

    def test_types(self):
        for nms in nmscore.torch.nms, torchvision.ops.nms:
            with self.assertRaisesRegex(RuntimeError, "dets should have the same type as scores"):
                nms(self.boxes, self.scores.double(), 0.5)
            with self.assertRaises(RuntimeError):
                nms(self.boxes.int(), self.scores.int(), 0.5)
            with self.assertRaises((NotImplementedError, RuntimeError)):
                nms(self.boxes.to("meta"), self.scores.to("meta"), 0.5)

    def test_idxs_and_threshold(self):
        with self.assertRaisesRegex(RuntimeError, "^boxes and idxs .* got 300 and 2"):
            nmscore.torch.batched_nms(self.boxes, self.scores, self.idxs[:2], 0.5)
        with self.assertRaisesRegex(RuntimeError, "^idxs should be a 1d tensor, got 2D"):
            nmscore.torch.batched_nms(self.boxes, self.scores, self.idxs[None], 0.5)
        for wrong in (-0.5, 1.5, float("nan")):
            with self.assertRaisesRegex(ValueError, "iou_threshold"):
                nmscore.torch.nms(self.boxes, self.scores, wrong)


class Heads(RoIHeads):
    """The post-processing of torchvision's Faster R-CNN, without its networks."""
    def __init__(self):
        torch.nn.Module.__init__(self)
        self.box_coder = BoxCoder((10.0, 10.0, 5.0, 5.0))
        self.score_thresh, self.nms_thresh, self.detections_per_img = 0.05, 0.5, 100


class Replaced(Case):
    def nan_is_kept(self, nms):
        """Returns whether `nms` keeps a box with a NaN score, which only nmscore never does."""
        return len(nms(torch.tensor([[0.0, 0, 1, 1]]), torch.tensor([float("nan")]), 0.5)) == 1

    def test_reaches_callers_until_restored(self):
        original = torchvision.ops.batched_nms
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            replaced = nmscore.torch.replace_torchvision()
        callers = (torchvision.ops.nms, torchvision.ops.boxes.nms, imported_before,
                   torch.ops.torchvision.nms, torch.jit.script(imported_before))
        for nms in callers:
            self.assertFalse(self.nan_is_kept(nms))
        for module in torchvision.ops, torchvision.ops.boxes:
            self.same(module.batched_nms(self.boxes, self.scores, self.idxs, 0.4),
                      each_class(self.boxes, self.scores, self.idxs, 0.4))
            self.assertIsNot(module.batched_nms, original)
        with self.assertRaisesRegex(RuntimeError, "^torchvision.ops is replaced already"):
            nmscore.torch.replace_torchvision()
        replaced.restore()
        replaced.restore()
        for nms in callers:
            self.assertTrue(self.nan_is_kept(nms))
        for module in torchvision.ops, torchvision.ops.boxes:
            self.assertIs(module.batched_nms, original)

    def test_restored_at_the_end_of_with(self):
        with self.assertRaises(KeyError), nmscore.torch.replace_torchvision():
            self.assertFalse(self.nan_is_kept(torchvision.ops.nms))
            raise KeyError
        self.assertTrue(self.nan_is_kept(torchvision.ops.nms))

    def test_other_devices_go_to_the_original(self):
        calls, original = [], torchvision.ops.batched_nms
        torchvision.ops.batched_nms = lambda *arguments: calls.append(arguments)
        self.addCleanup(setattr, torchvision.ops, "batched_nms", original)
        self.addCleanup(setattr, torchvision.ops.boxes, "batched_nms", original)
        with nmscore.torch.replace_torchvision():
            elsewhere = [t.to("meta") for t in (self.boxes, self.scores, self.idxs)]
            torchvision.ops.boxes.batched_nms(*elsewhere, 0.5)
            torchvision.ops.boxes.batched_nms(self.boxes, self.scores, self.idxs, 0.5)
        self.assertEqual([call[0].device.type for call in calls], ["meta"])

    def test_post_processing_of_torchvision(self):
        corner = torch.rand(400, 2) * 500
        proposals = torch.cat([corner, corner + 20 + torch.rand(400, 2) * 80], 1)
        arguments = (torch.randn(400, 6) * 2, torch.randn(400, 24) / 5, [proposals], [(600, 600)])
        wanted = Heads().postprocess_detections(*arguments)
        with nmscore.torch.replace_torchvision():
            got = Heads().postprocess_detections(*arguments)
        self.assertGreater(len(wanted[0][0]), 50)
        for ours, theirs in zip(got, wanted):
            self.assertTrue(torch.equal(ours[0], theirs[0]))


@unittest.skipUnless(compiles, f"torch {torch.__version__} has no register_fake")
class Programs(Case):
    def setUp(self):
        super().setUp()
        config = torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True)
        config.__enter__()
        self.addCleanup(config.__exit__, None, None, None)
        self.arguments = self.boxes, self.scores, self.idxs

    @staticmethod
    def select(boxes, scores, idxs):
        """Has sizes that are unknown before it runs, before and after the operators."""
        good = scores > 0.3
        boxes, scores, idxs = boxes[good], scores[good], idxs[good]
        kept = nmscore.torch.batched_nms(boxes, scores, idxs, 0.4)
        return boxes[kept] + 1, nmscore.torch.nms(boxes, scores, 0.3)

    def equal(self, got):
        for ours, theirs in zip(got, self.select(*self.arguments)):
            self.assertTrue(torch.equal(ours, theirs))

    def test_compiled(self):
        self.equal(torch.compile(self.select, fullgraph=True, backend="aot_eager")(*self.arguments))

    def test_exported(self):
        class Module(torch.nn.Module):
            forward = staticmethod(self.select)
        size = {0: torch.export.Dim("boxes")}
        program = torch.export.export(Module(), self.arguments, dynamic_shapes=(size,) * 3)
        names = [str(node.target) for node in program.graph.nodes if "nms" in str(node.target)]
        self.assertEqual(names, ["nmscore.batched_nms.default", "nmscore.nms.default"])
        file = io.BytesIO()
        torch.export.save(program, file)
        file.seek(0)
        self.equal(torch.export.load(file).module()(*self.arguments))

    def recorder(self, base, method):
        """Returns a subclass of `base` that lists the functions it intercepts in self.seen."""
        def record(_, function, types, args=(), kwargs=None):
            self.seen.append(function)
            with torch._C.DisableTorchFunctionSubclass():
                return function(*args, **(kwargs or {}))
        self.seen = []
        method_of = classmethod(record) if base is torch.Tensor else record
        return type("Recorder", (base,), {method: method_of})

    def test_modes_see_the_operators(self):
        for mode in ((TorchDispatchMode, "__torch_dispatch__"),
                     (TorchFunctionMode, "__torch_function__")):
            with self.recorder(*mode)():
                nmscore.torch.nms(self.boxes, self.scores, 0.4)
                nmscore.torch.batched_nms(*self.arguments, 0.4)
            self.assertIn(torch.ops.nmscore.nms.default, self.seen)
            self.assertIn(torch.ops.nmscore.batched_nms.default, self.seen)

    def test_subclasses_see_the_operators(self):
        recorded = self.recorder(torch.Tensor, "__torch_function__")
        for k in range(3):
            self.seen.clear()
            arguments = list(self.arguments)
            arguments[k] = arguments[k].as_subclass(recorded)
            nmscore.torch.nms(*arguments[:2], 0.4)
            self.assertEqual(torch.ops.nmscore.nms.default in self.seen, k < 2)
            nmscore.torch.batched_nms(*arguments, 0.4)
            self.assertIn(torch.ops.nmscore.batched_nms.default, self.seen)

    def test_traced(self):
        def nms(boxes, scores):
            return nmscore.torch.nms(boxes, scores, 0.4)
        arguments, others = (self.boxes, self.scores), (self.boxes.flip(0), self.scores)
        with warnings.catch_warnings():  # because torch deprecates jit.trace
            warnings.simplefilter("ignore")
            programs = make_fx(nms)(*arguments), torch.jit.trace(nms, arguments)
        for program in programs:
            self.assertIn("nmscore", str(program.graph))
            self.same(program(*others), nms(*others))

    def test_profiled(self):
        with torch.profiler.profile() as profile:
            nmscore.torch.nms(self.boxes, self.scores, 0.4)
        self.assertIn("nmscore::nms", [event.name for event in profile.events()])

    def test_transformed(self):
        def nms(boxes):
            return nmscore.torch.nms(boxes, self.scores, 0.4)
        with warnings.catch_warnings():  # because a loop of torch's own replaces a batching rule
            warnings.simplefilter("ignore")
            self.same(torch.vmap(nms)(self.boxes[None]), nms(self.boxes)[None])

    def test_operators_are_consistent(self):
        torch.library.opcheck(torch.ops.nmscore.nms.default, (self.boxes, self.scores, 0.4))
        torch.library.opcheck(torch.ops.nmscore.batched_nms.default, (*self.arguments, 0.4))


if __name__ == "__main__":
    if not compiles:
        print("torch.compile and torch.export are not tested: torch", torch.__version__,
              file=sys.stderr)
    unittest.main()
