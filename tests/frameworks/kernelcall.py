# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a JAX program for TPUs on the CPU: its kernel is replaced by a call to the evaluator of
tests/tpu, which executes the text of the kernel; XLA runs the rest."""
import base64
import ctypes
import dataclasses
import pathlib
import re
import sys

import jax
import numpy as np
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


class Runner:
    """The handler that XLA calls. `kernels` are the evaluators, by the number of the call."""

    def __init__(self):
        self.kernel, self.calls, self.error = None, 0, None
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

    def run(self, program, *arrays):
        """Runs a program that jax.export made for "tpu"."""
        text = str(program.mlir_module())
        bodies = BODY.findall(text)
        assert len(bodies) == 1, f"{len(bodies)} kernels"
        self.kernel = Kernel(base64.b64decode(bodies[0]).decode(), True)
        call = rf"stablehlo.custom_call @{TARGET}(\1) {{api_version = 4 : i32}} : "
        code = stablehlo.serialize_portable_artifact_str(CALL.sub(call, text),
                                                         stablehlo.get_current_version())
        result = dataclasses.replace(program, mlir_module_serialized=code).call(*arrays)
        jax.block_until_ready(result)
        if self.error:
            raise self.error
        return result
