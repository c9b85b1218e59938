# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs programs with jaxlib on the CPU, also those for TPUs: their kernel is replaced by a call to
the evaluator of tests/tpu, which executes the text of the kernel; XLA runs the rest."""
import base64
import ctypes
import dataclasses
import pathlib
import re
import sys

import jax
import numpy as np
from jax._src.interpreters import mlir
from jax.extend import backend
from jaxlib import _jax
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tpu"))
from tpurun import Kernel  # noqa: E402 (the line above says where it is)

TARGET = "nms_test_kernel"
CALL = re.compile(r'stablehlo\.custom_call @tpu_custom_call\(([^)]*)\) \{(.*?)\} : ')
BODY = re.compile(r'(?:\\22|\\")body(?:\\22|\\"): (?:\\22|\\")([A-Za-z0-9+/=]+)')
DTYPES = {4: np.int32, 11: np.float32}  # keys: XLA's element types


def at(address, offset, kind=ctypes.c_size_t):
    return kind.from_address(address + offset).value


def array_of(buffer):
    """Returns the memory of an XLA_FFI_Buffer as an array."""
    rank, dims = at(buffer, 32), at(buffer, 40)
    shape = [at(dims, 8 * i) for i in range(rank)]
    kind = DTYPES[at(buffer, 16, ctypes.c_int)]
    memory = (ctypes.c_char * (int(np.prod(shape)) * 4)).from_address(at(buffer, 24))
    return np.frombuffer(memory, kind).reshape(shape)


def buffers_of(frame, offset):
    """Returns the arguments or the results of a call, which begin at an offset of the frame."""
    return [array_of(at(at(frame, offset + 32), 8 * i)) for i in range(at(frame, offset + 16))]


class Jaxlib:
    """Compiles a text with the compiler of jaxlib."""

    def __init__(self, text):
        self.device = jax.devices("cpu")[0]
        self.executable = backend.get_backend("cpu").compile_and_load(
            text.encode(), _jax.DeviceList((self.device,)), _jax.CompileOptions())

    def __call__(self, *arrays):
        given = [jax.device_put(a, self.device) for a in arrays]
        return [np.asarray(a) for a in self.executable.execute(given)]


class Runner:
    """The handler that XLA calls. `kernels` are the evaluators, by the number of the call."""

    def __init__(self):
        self.kernel, self.calls, self.error = None, 0, None
        self.text, self.program = None, None  # that run_text compiled last
        # (kept as long as this object, because XLA calls it)
        self.handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(self.handle)
        pointer = ctypes.cast(self.handler, ctypes.c_void_p)
        jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(pointer), platform="cpu")

    def handle(self, frame):
        extension = at(frame, 8)
        if extension:  # the registration asks for a version
            version = at(extension, 24) + 24
            ctypes.memmove(version, (ctypes.c_int * 3)(0, 1, 0), 12)
            return None
        try:
            arguments = [np.array(a) for a in buffers_of(frame, 40)]
            with np.errstate(all="ignore"):
                buffers_of(frame, 80)[0][...] = self.kernel.run(arguments)
            self.calls += 1
        except Exception as error:  # pylint: disable=broad-except
            self.error = error
        return None

    def replace(self, text):
        """Returns a text that calls the evaluator instead of its kernel."""
        self.text = None
        bodies = BODY.findall(text)
        assert len(bodies) == 1, f"{len(bodies)} kernels"
        self.kernel = Kernel(base64.b64decode(bodies[0]).decode())
        return CALL.sub(rf"stablehlo.custom_call @{TARGET}(\1) {{api_version = 4 : i32}} : ", text)

    def check(self, results):
        """Waits for results, and raises an error of the evaluator."""
        jax.block_until_ready(results)
        if self.error:
            error, self.error = self.error, None
            raise error
        return results

    def run(self, program, *arrays):
        """Runs a program that jax.export made for "tpu"."""
        code = stablehlo.serialize_portable_artifact_str(self.replace(str(program.mlir_module())),
                                                         stablehlo.get_current_version())
        return self.check(dataclasses.replace(program, mlir_module_serialized=code).call(*arrays))

    def run_text(self, text, arrays, flush):
        """Runs a text of StableHLO with a kernel, as Kernel does with or without `flush`."""
        if text != self.text:
            printed = str(ir.Module.parse(text, mlir.make_ir_context()))
            self.program, self.text = Jaxlib(self.replace(printed)), text
        self.kernel.flush = flush
        return self.check(self.program(*arrays))
