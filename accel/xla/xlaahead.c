/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaahead: compiles programs for devices that this machine does not have. */
#include "nmsxla.h"

#include "xladevice.h"
#include "xlaerror.h"

#include "accel/lazy/process.h"

#include <stdlib.h>
#include <string.h>

static pjrt_named_value
string_option (const char *name, const char *value)
{
  PJRT_ARGS (pjrt_named_value, option);

  option.name = name;
  option.name_size = strlen (name);
  option.string = value;
  option.value_size = strlen (value);
  return option;
}

/* A serialized executable, in memory for free (). */
typedef struct {
  void *bytes;
  size_t size;
} Serialized;

static int
serialize (const pjrt_api *api, const pjrt_executable *executable, Serialized *out, char *error,
    size_t error_size)
{
  PJRT_ARGS (pjrt_serialize_args, args);
  pjrt_error *failure;

  args.executable = executable;
  failure = api->serialize (&args);
  if (failure)
    return nms__xla_error_take (api, failure, "cannot serialize", error, error_size);
  out->size = args.size;
  out->bytes = malloc (args.size + 1);
  if (out->bytes)
    memcpy (out->bytes, args.bytes, args.size);
  if (args.free_serialized)
    args.free_serialized (args.serialized);
  return out->bytes ? NMS_OK
                    : nms__xla_error_set (NMS_ERROR_MEMORY, error, error_size, "out of memory");
}

static int
compile_for (const pjrt_api *api, const pjrt_topology *topology, const char *text, size_t length,
    Serialized *out, char *error, size_t error_size)
{
  PJRT_ARGS (pjrt_program, program);
  PJRT_ARGS (pjrt_compile_args, compile);
  PJRT_ARGS (pjrt_executable_args, gone);
  pjrt_error *failure;
  int code = NMS_OK;

  program.code = text;
  program.code_size = length;
  program.format = "mlir";
  program.format_size = 4;
  compile.topology = topology;
  compile.program = &program;
  compile.options = NMS__XLA_COMPILE_OPTIONS;
  compile.options_size = sizeof NMS__XLA_COMPILE_OPTIONS - 1;
  failure = api->compile (&compile);
  if (failure)
    return nms__xla_error_take (api, failure, "cannot compile", error, error_size);
  if (out)
    code = serialize (api, compile.executable, out, error, error_size);
  gone.executable = compile.executable;
  failure = api->executable_destroy (&gone);
  if (failure && code)
    nms__xla_error_take (api, failure, "", NULL, 0);
  else if (failure)
    code = nms__xla_error_take (api, failure, "the executable", error, error_size);
  return code;
}

static int
ahead (const char *plugin, const char *topology, const char *target, const char *text,
    size_t length, Serialized *out, char *error, size_t error_size)
{
  PJRT_ARGS (pjrt_topology_create_args, create);
  PJRT_ARGS (pjrt_topology_args, gone);
  const pjrt_api *api;
  int code;

  if (!plugin || !*plugin || !topology || !text)
    return nms__xla_error_set (NMS_ERROR_ARGUMENT, error, error_size,
        "a required argument is NULL");
  code = nms__process_claim (error, error_size);
  if (!code)
    code = nms__xla_device_load (plugin, &api, error, error_size);
  if (code)
    return code;
  if (api->head.size < sizeof *api || !api->topology_create || !api->topology_destroy
      || !api->compile || (out && !api->serialize))
    return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
        "%s cannot compile for a device that is not here", plugin);

  pjrt_named_value options[2];
  if (target) {
    options[0] = string_option ("target_config", target);
    options[1] = string_option ("topology", topology);
    create.options = options;
    create.option_count = 2;
  }
  create.name = topology;
  create.name_size = strlen (topology);
  pjrt_error *failure = api->topology_create (&create);
  if (failure)
    return nms__xla_error_take (api, failure, topology, error, error_size);
  code = compile_for (api, create.topology, text, length, out, error, error_size);
  gone.topology = create.topology;
  failure = api->topology_destroy (&gone);
  if (failure && code)
    nms__xla_error_take (api, failure, "", NULL, 0);
  else if (failure)
    code = nms__xla_error_take (api, failure, topology, error, error_size);
  return code;
}

int
nms_xla_compile_ahead (const char *plugin, const char *topology, const char *target,
    const char *text, size_t length, char *error, size_t error_size)
{
  return ahead (plugin, topology, target, text, length, NULL, error, error_size);
}

int
nms_xla_serialize_ahead (const char *plugin, const char *topology, const char *target,
    const char *text, size_t length, void **executable, size_t *size, char *error,
    size_t error_size)
{
  Serialized made = { NULL, 0 };
  int code;

  if (!executable || !size)
    return nms__xla_error_set (NMS_ERROR_ARGUMENT, error, error_size,
        "a required argument is NULL");
  code = ahead (plugin, topology, target, text, length, &made, error, error_size);
  if (code) {
    free (made.bytes);
    made = (Serialized) { NULL, 0 };
  }
  *executable = made.bytes;
  *size = made.size;
  return code;
}
