/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xladevice: opens and closes the clients of plugins. */
#include "xladevice.h"
#include "xlaerror.h"
#include "xlalibrary.h"

#include "accel/lazy/process.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static nms__xla_device *devices; /* under the lock */

static void
destroy_client (nms__xla_device *device)
{
  PJRT_ARGS (pjrt_client_args, gone);
  pjrt_error *failure;

  gone.client = device->client;
  failure = device->api->client_destroy (&gone);
  if (failure)
    nms__xla_error_take (device->api, failure, "", NULL, 0);
}

static int
create_client (nms__xla_device *device, char *error, size_t error_size)
{
  const pjrt_api *api = device->api;
  PJRT_ARGS (pjrt_client_create_args, create);
  PJRT_ARGS (pjrt_platform_name_args, platform);
  PJRT_ARGS (pjrt_devices_args, all);
  pjrt_error *failure = api->client_create (&create);

  if (failure)
    return nms__xla_error_take (api, failure, "the plugin has no device", error, error_size);
  device->client = platform.client = all.client = create.client;
  failure = api->platform_name (&platform);
  if (!failure)
    failure = api->addressable_devices (&all);
  if (failure || all.device_count == 0) {
    destroy_client (device);
    return failure
        ? nms__xla_error_take (api, failure, "the plugin's device", error, error_size)
        : nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size, "the plugin has no device");
  }
  device->device = all.devices[0];
  snprintf (device->name, sizeof device->name, "xla:%.*s",
      platform.name_size < 48 ? (int) platform.name_size : 48, platform.name);
  return NMS_OK;
}

/* Opens or shares a device; the caller holds the lock. */
static int
open_locked (const char *path, const nms_lazy_backend *functions, nms__xla_device **opened,
    char *error, size_t error_size)
{
  size_t size = strlen (path) + 1;
  nms__xla_device *device;
  int code;

  for (device = devices; device; device = device->next)
    if (!strcmp (device->path, path)) {
      device->users++;
      *opened = device;
      return NMS_OK;
    }
  device = calloc (1, sizeof *device + size);
  if (!device)
    return nms__xla_error_set (NMS_ERROR_MEMORY, error, error_size, "out of memory");
  memcpy (device->path, path, size);
  code = nms__xla_library_load (path, &device->api, error, error_size);
  if (!code)
    code = create_client (device, error, error_size);
  if (code) {
    free (device);
    return code;
  }
  device->backend = *functions;
  device->backend.size = sizeof device->backend;
  device->backend.name = device->name;
  device->users = 1;
  device->next = devices;
  devices = device;
  *opened = device;
  return NMS_OK;
}

int
nms__xla_device_open (const char *path, const nms_lazy_backend *functions, nms__xla_device **device,
    char *error, size_t error_size)
{
  int code;

  pthread_mutex_lock (&lock);
  code = open_locked (path, functions, device, error, error_size);
  pthread_mutex_unlock (&lock);
  return code;
}

int
nms__xla_device_load (const char *path, const pjrt_api **api, char *error, size_t error_size)
{
  int code;

  pthread_mutex_lock (&lock);
  code = nms__xla_library_load (path, api, error, error_size);
  pthread_mutex_unlock (&lock);
  return code;
}

void
nms__xla_device_close (nms__xla_device *device)
{
  if (!nms__process_is_owner ())
    return; /* it belongs to the parent process, which closes it */
  pthread_mutex_lock (&lock);
  if (--device->users == 0) {
    for (nms__xla_device **at = &devices; *at; at = &(*at)->next)
      if (*at == device) {
        *at = device->next;
        break;
      }
    destroy_client (device);
    free (device);
  }
  pthread_mutex_unlock (&lock);
}

size_t
nms__xla_device_count (void)
{
  size_t count = 0;

  if (!nms__process_is_owner ())
    return 0;
  pthread_mutex_lock (&lock);
  for (const nms__xla_device *device = devices; device; device = device->next)
    count++;
  pthread_mutex_unlock (&lock);
  return count;
}
