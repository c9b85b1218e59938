/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsxla: devices that XLA compiles for, behind the tensors of nmslazy.h.
 *
 * A PJRT plugin is a shared library that holds a compiler and a device's
 * driver: PyPI's xla-cpu-pjrt for this processor, jax-cuda13-pjrt for NVIDIA's
 * GPUs, libtpu for TPUs. None is part of this library; the caller names one.
 *
 *     nms_lazy_backend *xla;
 *     char why[256];
 *     if (nms_xla_open ("/opt/xla_cpu_pjrt.so", &xla, why, sizeof why) < 0)
 *       puts (why);
 *     nms_lazy_cache *cache = nms_lazy_cache_new (xla, 0);
 *     ...                                        // see nmslazy.h
 *     nms_lazy_cache_free (&cache);
 *     nms_xla_close (&xla);
 *
 * TPUs: on a platform named "tpu", engine xla of nms_run does not run the graph
 * of nmsgraph.h but a kernel written for that chip (Chaim Rand, "Implementing
 * Sequential Algorithms on TPU"), which the plugin compiles and runs as it does
 * any program; frames that the kernel cannot do, those with parents, go by way
 * of the graph, without divisions. The kernel was compiled by libtpu for
 * several generations, its time estimated from the compiler's static schedule,
 * and what it computes emulated; the way to it was tested with a plugin that
 * only says that it is a TPU. No TPU has run any of it.
 *
 * Processes: a plugin starts threads, so it cannot be used in a process forked
 * from one that used it; all functions refuse there, and what was open is left
 * as it is. A plugin's library is never unloaded.
 *
 * Threads: all functions may be called from any thread at any time.
 */
#ifndef NMSXLA_H
#define NMSXLA_H

#include "nmslazy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the first device of the plugin in file `plugin`. The same file opened
 * twice in a process is one client of the device, and one backend, which is
 * closed with the last nms_xla_close. The backend's name is "xla:" and the
 * platform's own name: "xla:cpu", "xla:cuda", "xla:tpu".
 * Returns 0; or NMS_ERROR_ARGUMENT, _MEMORY, _UNSUPPORTED (a build without
 * plugins) or _DEVICE (anything about the plugin), writes one line about it to
 * `error`, at most `error_size` bytes, and NULL to *backend. */
NMS_API int nms_xla_open (const char *plugin, nms_lazy_backend **backend, char *error,
    size_t error_size);

/* Gives *backend back and sets it to NULL; caches made with it must be gone.
 * Accepts NULL and a pointer to NULL. */
NMS_API void nms_xla_close (nms_lazy_backend **backend);

/* What engine xla of nms_run did with this plugin, in this process, while any
 * context uses it: programs looked up, compiled, run. All 0 where none does.
 * 0 or NMS_ERROR_ARGUMENT, or _DEVICE in a forked process. */
NMS_API int nms_xla_engine_counters (const char *plugin, nms_lazy_counters *counters);

/* Compiles `length` bytes of StableHLO text with a plugin for a device that is
 * not here, and throws the result away: whether it can be compiled is all that
 * is asked. `topology`: the plugin's name of a set of devices ("v5e:2x2" for
 * TPUs, "1x1x1" for GPUs); `target`: NULL, or for GPUs the text of XLA's
 * GpuTargetConfigProto. Returns and errors as nms_xla_open. */
NMS_API int nms_xla_compile_ahead (const char *plugin, const char *topology, const char *target,
    const char *text, size_t length, char *error, size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
