/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nmsxla: opens plugins as backends of lazy tensors, and compiles ahead of time. */
#include "nmsxla.h"

#include "xladevice.h"
#include "xlaerror.h"
#include "xlaprobe.h"
#include "xlaprogram.h"

#include <string.h>

int
nms_xla_open (const char *plugin, nms_lazy_backend **backend, char *error, size_t error_size)
{
  nms__xla_device *device;
  int code;

  if (!backend)
    return nms__xla_error_set (NMS_ERROR_ARGUMENT, error, error_size, "backend is NULL");
  *backend = NULL;
  if (!plugin || !*plugin)
    return nms__xla_error_set (NMS_ERROR_ARGUMENT, error, error_size, "no plugin is named");
  code = nms__xla_device_claim (error, error_size);
  if (!code)
    code = nms__xla_probe (plugin, error, error_size);
  if (!code)
    code = nms__xla_device_open (plugin, &nms__xla_program_functions, &device, error,
        error_size);
  if (!code)
    *backend = &device->backend;
  return code;
}

int
nms_xla_probe_check (char *error, size_t error_size)
{
  return nms__xla_probe_check (error, error_size);
}

void
nms_xla_close (nms_lazy_backend **backend)
{
  nms_lazy_backend *closing = backend ? *backend : NULL;

  if (!closing)
    return;
  *backend = NULL;
  nms__xla_device_close ((nms__xla_device *) closing);
}

/* ------------------------------------------------------------ ahead of time */

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

static int
compile_for (const pjrt_api *api, const pjrt_topology *topology, const char *text, size_t length,
    char *error, size_t error_size)
{
  PJRT_ARGS (pjrt_program, program);
  PJRT_ARGS (pjrt_compile_args, compile);
  PJRT_ARGS (pjrt_executable_args, gone);
  pjrt_error *failure;

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
  gone.executable = compile.executable;
  failure = api->executable_destroy (&gone);
  if (failure)
    return nms__xla_error_take (api, failure, "the executable", error, error_size);
  return NMS_OK;
}

int
nms_xla_compile_ahead (const char *plugin, const char *topology, const char *target,
    const char *text, size_t length, char *error, size_t error_size)
{
  PJRT_ARGS (pjrt_topology_create_args, create);
  PJRT_ARGS (pjrt_topology_args, gone);
  const pjrt_api *api;
  int code;

  if (!plugin || !*plugin || !topology || !text)
    return nms__xla_error_set (NMS_ERROR_ARGUMENT, error, error_size,
        "a required argument is NULL");
  code = nms__xla_device_load (plugin, &api, error, error_size);
  if (code)
    return code;
  if (api->head.size < sizeof *api || !api->topology_create || !api->topology_destroy
      || !api->compile)
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
  code = compile_for (api, create.topology, text, length, error, error_size);
  gone.topology = create.topology;
  failure = api->topology_destroy (&gone);
  if (failure && code)
    nms__xla_error_take (api, failure, "", NULL, 0);
  else if (failure)
    code = nms__xla_error_take (api, failure, topology, error, error_size);
  return code;
}
