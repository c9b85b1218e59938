/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nmsxla: opens plugins as backends of lazy tensors. */
#include "nmsxla.h"

#include "xladevice.h"
#include "xlaerror.h"
#include "xlaprobe.h"
#include "xlaprogram.h"

#include "accel/lazy/process.h"

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
  code = nms__process_claim (error, error_size);
  if (!code)
    code = nms__xla_probe (plugin, error, error_size);
  if (!code)
    code = nms__xla_device_open (plugin, &nms__xla_program_functions, &device, error, error_size);
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
