/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlaprogram: compiles and runs programs on a device. A run copies the inputs to the
 * device, except those that are there, executes the program once and copies the outputs
 * back, except those that stay there. It waits for each of
 * these, so that the plugin uses no memory of the caller afterwards, and destroys every
 * other buffer and every event also after an error.
 */
#include "xlaprogram.h"
#include "xladevice.h"
#include "xlaerror.h"
#include "xlafolder.h"

#include "accel/lazy/process.h"

#include <stdlib.h>
#include <string.h>

typedef struct program {
  pjrt_loaded_executable *executable;
} program;

static int
element_type (int type)
{
  switch (type) {
    case NMS_LAZY_F32:
      return PJRT_F32;
    case NMS_LAZY_S32:
      return PJRT_S32;
    case NMS_LAZY_BF16:
      return PJRT_BF16;
    default:
      return PJRT_PRED;
  }
}

/* Destroys an error of the plugin; the first one sets *code and the text. */
static void
note (const nms__xla_device *d, int *code, pjrt_error *failure, const char *what, char *error,
    size_t error_size)
{
  if (failure && *code)
    nms__xla_error_take (d->api, failure, what, NULL, 0);
  else if (failure)
    *code = nms__xla_error_take (d->api, failure, what, error, error_size);
}

/* Waits for an event and destroys it. */
static void
await (const nms__xla_device *d, pjrt_event *event, int *code, const char *what, char *error,
    size_t error_size)
{
  PJRT_ARGS (pjrt_event_args, args);

  if (!event)
    return;
  args.event = event;
  note (d, code, d->api->event_await (&args), what, error, error_size);
  note (d, code, d->api->event_destroy (&args), what, error, error_size);
}

static void
destroy_executable (const nms__xla_device *d, pjrt_loaded_executable *executable)
{
  PJRT_ARGS (pjrt_loaded_executable_args, gone);
  int code = 0;

  gone.executable = executable;
  note (d, &code, d->api->loaded_executable_destroy (&gone), "", NULL, 0);
}

/* Checks the number of outputs, because execute () writes as many as the program
 * has. */
static int
check_outputs (const nms__xla_device *d, pjrt_loaded_executable *executable, size_t expected,
    char *error, size_t error_size)
{
  PJRT_ARGS (pjrt_get_executable_args, get);
  PJRT_ARGS (pjrt_output_count_args, outputs);
  PJRT_ARGS (pjrt_executable_args, gone);
  int code = 0;

  get.loaded = executable;
  note (d, &code, d->api->get_executable (&get), "the program", error, error_size);
  if (code)
    return code;
  outputs.executable = gone.executable = get.executable;
  note (d, &code, d->api->output_count (&outputs), "the program", error, error_size);
  note (d, &code, d->api->executable_destroy (&gone), "the program", error, error_size);
  if (!code && outputs.count != expected)
    code = nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
        "the program has %zu outputs, must have %zu", outputs.count, expected);
  return code;
}

/* Compiles a text, or returns NULL after an error. */
static pjrt_loaded_executable *
compile_text (const nms__xla_device *d, const char *text, size_t length, int *code, char *error,
    size_t error_size)
{
  PJRT_ARGS (pjrt_program, module);
  PJRT_ARGS (pjrt_client_compile_args, args);

  module.code = text;
  module.code_size = length;
  module.format = "mlir";
  module.format_size = 4;
  args.client = d->client;
  args.program = &module;
  args.options = NMS__XLA_COMPILE_OPTIONS;
  args.options_size = sizeof NMS__XLA_COMPILE_OPTIONS - 1;
  note (d, code, d->api->client_compile (&args), "cannot compile", error, error_size);
  return *code ? NULL : args.executable;
}

/* Loads the program from the folder of programs, or compiles it and writes it there. */
static pjrt_loaded_executable *
load_or_compile (const nms__xla_device *d, const char *text, size_t length, size_t output_count,
    int *code, char *error, size_t error_size)
{
  pjrt_loaded_executable *executable = nms__xla_folder_load (d, text, length);

  if (executable && !check_outputs (d, executable, output_count, NULL, 0))
    return executable;
  if (executable)
    destroy_executable (d, executable);
  executable = compile_text (d, text, length, code, error, error_size);
  if (executable)
    *code = check_outputs (d, executable, output_count, error, error_size);
  if (executable && !*code)
    nms__xla_folder_save (d, text, length, executable);
  else if (executable)
    destroy_executable (d, executable);
  return executable;
}

static int
compile (nms_lazy_backend *backend, const char *text, size_t length, size_t output_count,
    void **compiled, char *error, size_t error_size)
{
  const nms__xla_device *d = (const nms__xla_device *) backend;
  program *p;
  int code = nms__process_claim (error, error_size);

  if (code)
    return code;
  p = malloc (sizeof *p);
  if (!p)
    return nms__xla_error_set (NMS_ERROR_MEMORY, error, error_size, "out of memory");
  nms__process_begin ();
  p->executable = load_or_compile (d, text, length, output_count, &code, error, error_size);
  nms__process_end ();
  if (code) {
    free (p);
    return code;
  }
  *compiled = p;
  return NMS_OK;
}

static void
free_program (nms_lazy_backend *backend, void *compiled)
{
  const nms__xla_device *d = (const nms__xla_device *) backend;
  program *p = compiled;

  if (!nms__process_is_owner ())
    return; /* it belongs to the parent process */
  destroy_executable (d, p->executable);
  free (p);
}

static pjrt_buffer *
send (const nms__xla_device *d, const nms_lazy_buffer *input, int *code, char *error,
    size_t error_size)
{
  PJRT_ARGS (pjrt_from_host_args, args);
  int64_t dims[NMS_LAZY_MAX_RANK];

  for (int i = 0; i < input->shape.rank; i++)
    dims[i] = input->shape.dims[i];
  args.client = d->client;
  args.data = input->data;
  args.type = element_type (input->shape.type);
  args.dims = dims;
  args.dim_count = (size_t) input->shape.rank;
  args.device = d->device;
  note (d, code, d->api->from_host (&args), "cannot send data to the device", error, error_size);
  if (*code)
    return NULL;
  await (d, args.done, code, "cannot send data to the device", error, error_size);
  return args.buffer;
}

static void
receive (const nms__xla_device *d, pjrt_buffer *buffer, const nms_lazy_buffer *output, int *code,
    char *error, size_t error_size)
{
  PJRT_ARGS (pjrt_to_host_args, args);
  size_t size = output->shape.type == NMS_LAZY_PRED ? 1 : 4;

  for (int i = 0; i < output->shape.rank; i++)
    size *= (size_t) output->shape.dims[i];
  args.source = buffer;
  note (d, code, d->api->to_host (&args), "cannot read from the device", error, error_size);
  if (*code)
    return;
  if (args.size != size) {
    *code = nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
        "an output of the program has %zu bytes, must have %zu", args.size, size);
    return;
  }
  args.data = output->data;
  note (d, code, d->api->to_host (&args), "cannot read from the device", error, error_size);
  if (!*code)
    await (d, args.event, code, "cannot read from the device", error, error_size);
}

static void
destroy_buffers (const nms__xla_device *d, pjrt_buffer **buffers, size_t count)
{
  int code = 0;

  for (size_t i = 0; i < count; i++)
    if (buffers[i]) {
      PJRT_ARGS (pjrt_buffer_args, gone);
      gone.buffer = buffers[i];
      note (d, &code, d->api->buffer_destroy (&gone), "", NULL, 0);
    }
}

/* Sends the inputs that are not on the device. */
static void
send_all (const nms__xla_device *d, const nms_lazy_buffer *inputs, size_t count,
    pjrt_buffer **buffers, int *code, char *error, size_t error_size)
{
  for (size_t i = 0; i < count && !*code; i++) {
    void **resident = inputs[i].resident;
    buffers[i] = resident && *resident ? *resident : send (d, &inputs[i], code, error, error_size);
    if (resident && !*code)
      *resident = buffers[i];
  }
}

/* Reads the outputs, or gives them to the caller. */
static void
receive_all (const nms__xla_device *d, const nms_lazy_buffer *outputs, size_t count,
    pjrt_buffer **buffers, int *code, char *error, size_t error_size)
{
  for (size_t i = 0; i < count && !*code; i++)
    if (!outputs[i].resident)
      receive (d, buffers[i], &outputs[i], code, error, error_size);
  for (size_t i = 0; i < count && !*code; i++)
    if (outputs[i].resident)
      *outputs[i].resident = buffers[i];
}

/* Destroys the buffers that the caller does not own. */
static void
release (const nms__xla_device *d, const nms_lazy_buffer *arrays, pjrt_buffer **buffers,
    size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (arrays[i].resident && *arrays[i].resident == buffers[i])
      buffers[i] = NULL;
  destroy_buffers (d, buffers, count);
}

static int
fetch (nms_lazy_backend *backend, void *resident, const nms_lazy_buffer *output, char *error,
    size_t error_size)
{
  const nms__xla_device *d = (const nms__xla_device *) backend;
  int code = nms__process_claim (error, error_size);

  if (!code)
    receive (d, resident, output, &code, error, error_size);
  return code;
}

static void
free_resident (nms_lazy_backend *backend, void *resident)
{
  const nms__xla_device *d = (const nms__xla_device *) backend;
  pjrt_buffer *buffer = resident;

  if (nms__process_is_owner ()) /* else it belongs to the parent process */
    destroy_buffers (d, &buffer, 1);
}

static int
run (nms_lazy_backend *backend, void *compiled, const nms_lazy_buffer *inputs, size_t input_count,
    const nms_lazy_buffer *outputs, size_t output_count, char *error, size_t error_size)
{
  const nms__xla_device *d = (const nms__xla_device *) backend;
  const program *p = compiled;
  PJRT_ARGS (pjrt_execute_options, options);
  PJRT_ARGS (pjrt_execute_args, execute);
  pjrt_buffer **in, **out;
  pjrt_event *done = NULL;
  int code = nms__process_claim (error, error_size);

  if (code)
    return code;
  in = calloc (input_count + output_count + 1, sizeof *in);
  if (!in)
    return nms__xla_error_set (NMS_ERROR_MEMORY, error, error_size, "out of memory");
  out = in + input_count;
  nms__process_begin (); /* because the caller may be the thread of a cache */
  send_all (d, inputs, input_count, in, &code, error, error_size);
  if (!code) {
    pjrt_buffer *const *arguments = in;
    execute.executable = p->executable;
    execute.options = &options;
    execute.arguments = &arguments;
    execute.device_count = 1;
    execute.argument_count = input_count;
    execute.outputs = &out;
    execute.done = &done;
    note (d, &code, d->api->execute (&execute), "the device failed", error, error_size);
    if (!code)
      await (d, done, &code, "the device failed", error, error_size);
  }
  if (!code)
    receive_all (d, outputs, output_count, out, &code, error, error_size);
  release (d, inputs, in, input_count);
  release (d, outputs, out, output_count);
  nms__process_end ();
  free (in);
  return code;
}

const nms_lazy_backend nms__xla_program_functions = {
  .compile = compile,
  .run = run,
  .free_program = free_program,
  .fetch = fetch,
  .free_resident = free_resident,
};
