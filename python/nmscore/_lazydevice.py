# SPDX-License-Identifier: LGPL-2.1-or-later
"""Devices of nmscore.lazy: they record, run and print programs. Tensors are ints here."""
from __future__ import annotations

import atexit
import contextlib
import os
import sys
import time
import weakref
from collections import Counter
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy

from nmscore._accel import _nmsaccel

F32, S32, PRED, BF16 = 1, 2, 3, 4
DTYPES: Dict[int, Any] = {F32: numpy.float32, S32: numpy.int32, PRED: numpy.bool_}

MAX_OPERATIONS = 4096  # NMS_LAZY_MAX_OPERATIONS of nmslazy.h

_devices: "weakref.WeakSet[Device]" = weakref.WeakSet()


@atexit.register
def _wait_for_all() -> None:
    """Waits for what compute() started, because a plugin's threads must not run while the process
    ends."""
    for device in list(_devices):
        with contextlib.suppress(RuntimeError):  # another thread uses it
            device.wait()


class Device:
    """A device, and tensors on it. Only one thread uses it at a time. All devices of the same
    plugin in a process share the compiled programs.

    plugin  the path of a PJRT plugin; None: programs are run in C, without a compiler
    debug   True prints one line for each run: the size and hash of its trace, whether a
            compiled program was found by that hash, times, and arrays copied to and from the
            device; "trace" prints the trace, too, as StableHLO
    """

    def __init__(self, plugin: Optional[Union[str, os.PathLike[str]]] = None,
                 debug: Union[bool, str] = False) -> None:
        self.debug = debug
        self._handle = _nmsaccel.lazy_open(None if plugin is None else os.fspath(plugin))
        self._live: Counter[int] = Counter()
        self._opened: Counter[str] = Counter(_nmsaccel.lazy_counters(self._handle))
        _devices.add(self)
        self._loops = 0  # nested loops whose functions are being recorded

    @property
    def name(self) -> str:
        """Returns "eager", or "xla:" and the platform of the plugin."""
        return _nmsaccel.lazy_device_name(self._handle)

    @property
    def counters(self) -> Dict[str, int]:
        """Counts since the device was opened, of all devices that share its programs;
        nms_lazy_counters of nmslazy.h explains them. Waits for what compute() started."""
        self.wait()
        now = _nmsaccel.lazy_counters(self._handle)
        return {name: count - self._opened[name] for name, count in now.items()}

    def limit(self, programs: int) -> None:
        """Sets the greatest number of compiled programs of all devices that share them, initially
        32. The programs used least recently are freed."""
        _nmsaccel.lazy_limit(self._handle, programs)

    def wait(self) -> None:
        """Waits for what compute() started. Its errors are raised when a tensor is read."""
        _nmsaccel.lazy_wait(self._handle)

    # The methods below are for nmscore.lazy.

    def hold(self, tensor: int) -> None:
        self._live[tensor] += 1

    def release(self, tensor: int) -> None:
        self._live[tensor] -= 1
        if self._live[tensor] <= 0:
            del self._live[tensor]

    def is_long(self) -> bool:
        """Returns whether less than half of the space is left for operations, where one for each
        Tensor is not counted. A call records up to 200, a loop all those of its functions."""
        return _nmsaccel.lazy_operations(self._handle) > (MAX_OPERATIONS + len(self._live)) // 2

    def free(self) -> None:
        """Frees the tensors that no Tensor refers to."""
        _nmsaccel.lazy_keep(self._handle, list(self._live))

    def make_room(self) -> None:
        """Frees unused tensors if many operations are recorded. If too many remain, computes the
        other tensors, so that their operations can be freed. Called before operations are
        recorded, while Tensors refer to all operands."""
        if self._loops or not self.is_long():
            return
        self.free()
        if self.is_long():
            tensors = list(self._live)
            self.run(tensors, (None,) * len(tensors))
            self.free()

    def input(self, array: numpy.typing.NDArray[Any], kind: int) -> int:
        self.make_room()
        return _nmsaccel.lazy_input(self._handle, kind, array.shape, array)

    def constant(self, kind: int, value: float) -> int:
        self.make_room()
        return _nmsaccel.lazy_constant(self._handle, kind, value)

    def shape(self, tensor: int) -> Tuple[int, Tuple[int, ...]]:
        return _nmsaccel.lazy_shape(self._handle, tensor)

    def apply(self, name: str, tensors: Sequence[int], dims: Sequence[int], axis: int) -> int:
        return _nmsaccel.lazy_apply(self._handle, name, tensors, dims, axis)

    def concatenate(self, tensors: Sequence[int], axis: int) -> int:
        return _nmsaccel.lazy_concatenate(self._handle, tensors, axis)

    def loop(self, state: List[int], cond: Any, body: Any) -> List[int]:
        self.make_room()
        last = max(self._live)
        self._loops += 1
        try:
            return _nmsaccel.lazy_while(self._handle, state, cond, body)
        finally:
            self._loops -= 1
            for tensor in [t for t in self._live if t > last]:  # they exist in the loop only
                del self._live[tensor]

    def dump(self, tensors: Sequence[int]) -> Tuple[str, int]:
        return _nmsaccel.lazy_dump(self._handle, tensors)

    def read(self, tensors: Sequence[int], arrays: Tuple[Any, ...]) -> None:
        """Computes tensors and writes their values to the arrays that are not None. Frees what
        only they depended on."""
        self.run(tensors, arrays)
        self.free()

    def start(self, tensors: Sequence[int]) -> None:
        """Computes tensors on another thread and returns at once. With `debug` it waits for the
        result instead, in order to print the time."""
        self.free()
        if self.debug:
            self.run_and_report(tensors, (None,) * len(tensors))
        else:
            _nmsaccel.lazy_start(self._handle, tensors)

    def run(self, tensors: Sequence[int], arrays: Tuple[Any, ...]) -> None:
        if self.debug:
            self.run_and_report(tensors, arrays)
        else:
            _nmsaccel.lazy_read(self._handle, tensors, arrays)

    def run_and_report(self, tensors: Sequence[int], arrays: Tuple[Any, ...]) -> None:
        text, trace_hash = self.dump(tensors)
        before, start = self.counters, time.perf_counter()
        _nmsaccel.lazy_read(self._handle, tensors, arrays)
        taken = time.perf_counter() - start
        new = {name: value - before[name] for name, value in self.counters.items()}
        self.report(text, trace_hash, new, taken)

    def report(self, text: str, trace_hash: int, new: Dict[str, int], taken: float) -> None:
        """Prints what a read did. `new` has the increase of each counter during the read."""
        compiled = new["compile_ns"] * 1e-9
        if self.debug == "trace":
            print(text, end="", file=sys.stderr)
        found = ("values are known" if not new["traces"] else "found" if new["hits"]
                 else "compiled in %.1f ms" % (compiled * 1e3))
        print("lazy %s: trace %016x, %d operations, %s; ran in %.3f ms; sent %d, fetched %d arrays"
              % (self.name, trace_hash, text.count("\n%"), found, (taken - compiled) * 1e3,
                 new["sent"], new["fetched"]), file=sys.stderr)
