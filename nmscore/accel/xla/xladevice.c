/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xladevice: clients of plugins, one for each plugin in a process, counted and
 * shared, made when first asked for. Threads of a plugin do not survive a
 * fork, and its first transfer in the child would wait for them for ever; so
 * the process that first opened a client is remembered, and any other refuses
 * before it touches a lock.
 */
#include "xladevice.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static nms__xla_device *devices; /* under the lock */
static atomic_long owner;        /* the process that may use plugins; 0: any */

static int
forked (char *error, size_t error_size)
{
  return nms__xla_say (NMS_ERROR_DEVICE, error, error_size,
      "this process was forked from one that had opened an XLA plugin, whose threads are not "
      "here");
}

/* Claims plugins for this process, or finds them claimed by another. */
int
nms__xla_forked (char *error, size_t error_size)
{
  long nobody = 0, self = (long) getpid ();

  if (atomic_compare_exchange_strong (&owner, &nobody, self) || nobody == self)
    return NMS_OK;
  return forked (error, error_size);
}

int
nms__xla_device_check (const nms__xla_device *device, char *error, size_t error_size)
{
  return device->pid == getpid () ? NMS_OK : forked (error, error_size);
}

static void
destroy_client (nms__xla_device *device)
{
  NMS__PJRT_ARGS (pjrt_client_args, gone);
  pjrt_error *failure;
  char ignored[1];

  gone.client = device->client;
  failure = device->api->client_destroy (&gone);
  if (failure)
    nms__xla_failed (device->api, failure, "", ignored, sizeof ignored);
}

static int
create_client (nms__xla_device *device, char *error, size_t error_size)
{
  const pjrt_api *api = device->api;
  NMS__PJRT_ARGS (pjrt_client_create_args, create);
  NMS__PJRT_ARGS (pjrt_platform_name_args, platform);
  NMS__PJRT_ARGS (pjrt_devices_args, all);
  pjrt_error *failure = api->client_create (&create);

  if (failure)
    return nms__xla_failed (api, failure, "the plugin has no device", error, error_size);
  device->client = platform.client = all.client = create.client;
  failure = api->platform_name (&platform);
  if (!failure)
    failure = api->addressable_devices (&all);
  if (failure || all.device_count == 0) {
    destroy_client (device);
    return failure
        ? nms__xla_failed (api, failure, "the plugin's device", error, error_size)
        : nms__xla_say (NMS_ERROR_DEVICE, error, error_size, "the plugin has no device");
  }
  device->device = all.devices[0];
  nms__xla_say (0, device->name, sizeof device->name, "xla:%.*s",
      platform.name_size < 48 ? (int) platform.name_size : 48, platform.name);
  return NMS_OK;
}

/* With the lock held. */
static int
open_device (const char *path, nms__xla_device **opened, char *error, size_t error_size)
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
    return nms__xla_say (NMS_ERROR_MEMORY, error, error_size, "out of memory");
  memcpy (device->path, path, size);
  code = nms__xla_library_load (path, &device->api, error, error_size);
  if (!code)
    code = create_client (device, error, error_size);
  if (code) {
    free (device);
    return code;
  }
  device->backend.size = sizeof device->backend;
  device->backend.name = device->name;
  nms__xla_program_functions (&device->backend);
  device->users = 1;
  device->pid = getpid ();
  device->next = devices;
  devices = device;
  *opened = device;
  return NMS_OK;
}

int
nms_xla_open (const char *plugin, nms_lazy_backend **backend, char *error, size_t error_size)
{
  nms__xla_device *device = NULL;
  int code;

  if (!backend)
    return nms__xla_say (NMS_ERROR_ARGUMENT, error, error_size, "backend is NULL");
  *backend = NULL;
  if (!plugin || !*plugin)
    return nms__xla_say (NMS_ERROR_ARGUMENT, error, error_size, "no plugin is named");
  code = nms__xla_forked (error, error_size);
  if (code)
    return code;
  pthread_mutex_lock (&lock);
  code = open_device (plugin, &device, error, error_size);
  pthread_mutex_unlock (&lock);
  if (!code)
    *backend = &device->backend;
  return code;
}

void
nms_xla_close (nms_lazy_backend **backend)
{
  nms__xla_device *device;

  if (!backend || !*backend)
    return;
  device = (nms__xla_device *) *backend;
  *backend = NULL;
  if (nms__xla_device_check (device, NULL, 0))
    return; /* the parent's; nothing of it can be ended here */
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
nms_xla_clients (void)
{
  size_t count = 0;
  char ignored[1];

  if (nms__xla_forked (ignored, sizeof ignored))
    return 0;
  pthread_mutex_lock (&lock);
  for (const nms__xla_device *device = devices; device; device = device->next)
    count++;
  pthread_mutex_unlock (&lock);
  return count;
}

/* ------------------------------------------------------------ ahead of time */

static pjrt_named_value
string_option (const char *name, const char *value)
{
  NMS__PJRT_ARGS (pjrt_named_value, option);

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
  NMS__PJRT_ARGS (pjrt_program, program);
  NMS__PJRT_ARGS (pjrt_compile_args, compile);
  NMS__PJRT_ARGS (pjrt_executable_args, gone);
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
    return nms__xla_failed (api, failure, "cannot compile", error, error_size);
  gone.executable = compile.executable;
  failure = api->executable_destroy (&gone);
  if (failure)
    return nms__xla_failed (api, failure, "the executable", error, error_size);
  return NMS_OK;
}

int
nms_xla_compile_ahead (const char *plugin, const char *topology, const char *target,
    const char *text, size_t length, char *error, size_t error_size)
{
  NMS__PJRT_ARGS (pjrt_topology_create_args, create);
  NMS__PJRT_ARGS (pjrt_topology_args, gone);
  const pjrt_api *api;
  int code;

  if (!plugin || !*plugin || !topology || !text)
    return nms__xla_say (NMS_ERROR_ARGUMENT, error, error_size, "a required argument is NULL");
  code = nms__xla_forked (error, error_size);
  if (code)
    return code;
  pthread_mutex_lock (&lock);
  code = nms__xla_library_load (plugin, &api, error, error_size);
  pthread_mutex_unlock (&lock);
  if (code)
    return code;
  if (api->head.size < sizeof *api || !api->topology_create || !api->topology_destroy
      || !api->compile)
    return nms__xla_say (NMS_ERROR_DEVICE, error, error_size,
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
    return nms__xla_failed (api, failure, topology, error, error_size);
  code = compile_for (api, create.topology, text, length, error, error_size);
  gone.topology = create.topology;
  failure = api->topology_destroy (&gone);
  if (failure && code)
    nms__xla_failed (api, failure, "", NULL, 0);
  else if (failure)
    code = nms__xla_failed (api, failure, topology, error, error_size);
  return code;
}
