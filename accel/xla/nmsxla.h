/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsxla: backends of lazy tensors (nmslazy.h) for the devices that XLA compiles for.
 *
 * A PJRT plugin is a shared library that contains a compiler and the driver of a
 * device: PyPI's xla-cpu-pjrt for the CPU, jax-cuda13-pjrt for NVIDIA's GPUs, libtpu
 * for TPUs. This library contains no plugin; the caller gives the file of one.
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
 * TPUs: on a platform named "tpu", engine xla of nms_run runs a kernel written for
 * that chip (Chaim Rand, "Implementing Sequential Algorithms on TPU") instead of the
 * graph of nmsgraph.h. The plugin compiles and runs the kernel like any program.
 * Frames with parents run the graph, without divisions. libtpu compiled the kernel for
 * several generations of TPUs, its time was estimated from the compiler's static
 * schedule, and its text was executed by an emulator. Engine xla was tested with a
 * plugin that reports a TPU as its platform. No TPU has run the kernel or the graph.
 *
 * GPUs: on a platform named "cuda", engine xla runs the graph without divisions. An NVIDIA H100
 * gave the results of the reference, with the plugin of jax-cuda13-pjrt 0.11.2.
 *
 * Trial: a plugin may crash or block when it is opened, as libtpu does on a machine without a
 * TPU. So nms_xla_open () first has the program nms-xla-probe open and close the plugin in a
 * process of its own, with a time limit, and refuses a plugin that ends that process or exceeds
 * the limit. The answer is kept for the process as long as the plugin's file does not change,
 * unless the plugin returned an error.
 *   NMS_XLA_PROBE          the program's file. If unset, the installed one in the folder libexec
 *                          of the prefix; if empty, plugins are opened without a trial
 *   NMS_XLA_PROBE_SECONDS  the time limit, 1 to 3600, default 30
 * If the program cannot be run, plugins are opened without a trial, and nms_xla_probe_check ()
 * returns the reason.
 *
 * Programs in files: if NMS_XLA_PROGRAMS names a folder, compiled programs are written there and
 * found by later processes, if the plugin can serialize and load them. The folder is made if it
 * does not exist. A file is valid for the plugin's file, the machine and the text for which it was
 * written. A file that is damaged or does not fit is replaced. The number of files has no limit.
 * A folder that belongs to another user, or to which others may write, is not used.
 *
 * Processes: a plugin starts threads, so it cannot be used in a process forked
 * from one that used it. All functions return an error there and do not touch open
 * devices. A plugin's library is never unloaded. A process that ends while engine xla compiles
 * waits for it. The wait comes before the plugin's destructors if the main thread ends the process
 * and has done one of these: loaded this library (as in each program that is linked with it),
 * called nms_xla_engine (), run a frame with the engine, or freed the context of such frames.
 * After 3 s the process ends all the same, with its exit status, but without its functions of
 * atexit (), and flushes stdout only.
 *
 * Threads: all functions may be called from any thread at any time.
 */
#ifndef NMSXLA_H
#define NMSXLA_H

#include "nmslazy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the first device of the plugin in file `plugin` and writes its backend to
 * *backend. A process that opens the same file twice gets the same backend, which the
 * last nms_xla_close () closes. The backend's name is "xla:" and the platform's name:
 * "xla:cpu", "xla:cuda", "xla:tpu".
 * Returns 0; or NMS_ERROR_ARGUMENT, _MEMORY or _DEVICE (all errors of the plugin), writes one line
 * about the error to `error`, at most `error_size` bytes with the final 0, and NULL to *backend. */
NMS_API int nms_xla_open (const char *plugin, nms_lazy_backend **backend, char *error,
    size_t error_size);

/* Returns 0 if nms_xla_open () can run nms-xla-probe, or if that is switched off; otherwise
 * NMS_ERROR_DEVICE and one line of text, as nms_xla_open () writes it. */
NMS_API int nms_xla_probe_check (char *error, size_t error_size);

/* Closes *backend and sets it to NULL. Free all caches made with it before the last
 * close. Accepts NULL and a pointer to NULL. */
NMS_API void nms_xla_close (nms_lazy_backend **backend);

/*
 * Engine xla: an engine for nms_context_add_engine (nmscore.h), which runs the whole call as one
 * program on the device of a plugin.
 *
 *     nms_added_engine engine = { .size = sizeof engine };
 *     nms_xla_engine ("/opt/xla_cpu_pjrt.so", 0, &engine);
 *     nms_context_add_engine (ctx, &engine);
 *     options.engine = NMS_ENGINE_ADDED;
 *
 * It loads the plugin and compiles programs when they are first needed. Frames are padded to a
 * power of two from 128 to NMS_XLA_MAX_BOXES boxes, and each size needs a program for each
 * combination of inclusive, class_agnostic and similar options. Thresholds, caps and numbers of
 * boxes need no programs of their own, except that on a TPU caps are padded to powers of two, too,
 * and each needs a program. Before a program is used it must compute known results; a device that
 * rounds differently is not used. Engines with the same plugin share its device and programs.
 *
 * Loading and compiling run on threads of the engine, with a trial before (see above). Until the
 * program is compiled, and for more boxes than NMS_XLA_MAX_BOXES, the engine leaves frames to the
 * native engines, which give the same results. If it cannot be used at all (because no plugin is
 * named, or a plugin does not load or fails, or its device rounds differently), it leaves all
 * frames from then on, and nms_context_engine_reason returns the reason; to try again, add another
 * engine.
 */
#define NMS_XLA_MAX_BOXES 65536

enum {
  /* A call waits for its program, and a frame that the engine leaves is an error. */
  NMS_XLA_STRICT = 1
};

/* Fills *engine, whose `size` the caller has set. `plugin` is the file of a plugin; NULL for the
 * file that the environment variable NMS_XLA_PLUGIN names. `flags` has NMS_XLA_... bits. Does not
 * open the plugin. Returns 0, or NMS_ERROR_ARGUMENT, _UNSUPPORTED (unknown flags) or _MEMORY. */
NMS_API int nms_xla_engine (const char *plugin, unsigned flags, nms_added_engine *engine);

/* Fills *counters with the programs that engine xla looked up, compiled and
 * ran with this plugin in this process. They count from the first context that uses
 * the plugin until the last one is freed, and are 0 while no context uses it. Returns
 * 0, NMS_ERROR_ARGUMENT, or NMS_ERROR_DEVICE in a forked process. */
NMS_API int nms_xla_engine_counters (const char *plugin, nms_lazy_counters *counters);

/* Tests whether a plugin can compile `length` bytes of StableHLO text for a device that
 * this machine does not have; the compiled program is discarded. `topology` is the
 * plugin's name of a set of devices ("v5e:2x2" for TPUs, "1x1x1" for GPUs). `target`
 * is NULL, or for GPUs the text of XLA's GpuTargetConfigProto. Returns the codes of
 * nms_xla_open () and writes to `error` in the same way. Does not make a trial, because
 * most plugins cannot open the device of another machine. */
NMS_API int nms_xla_compile_ahead (const char *plugin, const char *topology, const char *target,
    const char *text, size_t length, char *error, size_t error_size);

/* Compiles a text as nms_xla_compile_ahead () does, and writes the compiled program to *executable,
 * for free (), and its number of bytes to *size. The program is the plugin's serialized executable,
 * which the same version of the plugin loads on the device (PJRT_Executable_DeserializeAndLoad).
 * Returns NMS_ERROR_DEVICE also if the plugin cannot serialize. Sets *executable to NULL on an
 * error. */
NMS_API int nms_xla_serialize_ahead (const char *plugin, const char *topology, const char *target,
    const char *text, size_t length, void **executable, size_t *size, char *error,
    size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
