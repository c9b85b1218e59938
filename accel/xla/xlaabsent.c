/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaabsent: the functions of nmsxla.h and accel.h in a build without plugins. */
#include "accel/accel.h"
#include "nmsxla.h"

#include <stdio.h>

void
nms__xla_free (struct nms__xla **xla)
{
  *xla = NULL;
}

void
nms__xla_wake (void)
{
}

const char *
nms__xla_refusal (const struct nms__xla *xla)
{
  (void) xla;
  return NULL;
}

static int
absent (char *error, size_t error_size)
{
  if (error_size > 0)
    snprintf (error, error_size, "this build cannot load XLA plugins");
  return NMS_ERROR_UNSUPPORTED;
}

int
nms_xla_open (const char *plugin, nms_lazy_backend **backend, char *error, size_t error_size)
{
  (void) plugin;
  if (backend)
    *backend = NULL;
  return absent (error, error_size);
}

int
nms_xla_probe_check (char *error, size_t error_size)
{
  return absent (error, error_size);
}

void
nms_xla_close (nms_lazy_backend **backend)
{
  if (backend)
    *backend = NULL;
}

int
nms_xla_engine_counters (const char *plugin, nms_lazy_counters *counters)
{
  (void) plugin, (void) counters;
  return NMS_ERROR_UNSUPPORTED;
}

int
nms_xla_compile_ahead (const char *plugin, const char *topology, const char *target,
    const char *text, size_t length, char *error, size_t error_size)
{
  (void) plugin, (void) topology, (void) target, (void) text, (void) length;
  return absent (error, error_size);
}

int
nms_xla_serialize_ahead (const char *plugin, const char *topology, const char *target,
    const char *text, size_t length, void **executable, size_t *size, char *error,
    size_t error_size)
{
  (void) plugin, (void) topology, (void) target, (void) text, (void) length;
  if (executable && size)
    *executable = NULL, *size = 0;
  return absent (error, error_size);
}
