/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlalibrary: loads plugins. A library is never unloaded, because its threads and its
 * destructors outlive any client; so the list of libraries only grows, by a few entries
 * in a process. Its symbols are local (RTLD_LOCAL), because two plugins contain two
 * versions of the same code.
 */
#include "xlalibrary.h"
#include "xlaerror.h"

#include "accel/lazy/process.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct library {
  struct library *next;
  const pjrt_api *api;
  char path[];
} library;

static library *libraries;

/* Checks that the table has all functions that a client needs. */
static int
check_table (const char *path, const pjrt_api *api, char *error, size_t error_size)
{
  static const size_t needed[] = {
    offsetof (pjrt_api, error_destroy),
    offsetof (pjrt_api, error_message),
    offsetof (pjrt_api, initialize),
    offsetof (pjrt_api, event_destroy),
    offsetof (pjrt_api, event_await),
    offsetof (pjrt_api, client_create),
    offsetof (pjrt_api, client_destroy),
    offsetof (pjrt_api, platform_name),
    offsetof (pjrt_api, addressable_devices),
    offsetof (pjrt_api, client_compile),
    offsetof (pjrt_api, from_host),
    offsetof (pjrt_api, executable_destroy),
    offsetof (pjrt_api, output_count),
    offsetof (pjrt_api, loaded_executable_destroy),
    offsetof (pjrt_api, get_executable),
    offsetof (pjrt_api, execute),
    offsetof (pjrt_api, buffer_destroy),
    offsetof (pjrt_api, to_host),
  };
  const size_t least = offsetof (pjrt_api, to_host) + sizeof api->to_host;

  if (!api)
    return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
        "%s: its GetPjrtApi returned nothing", path);
  if (api->head.size < least)
    return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
        "%s is too old: its table of functions has %zu bytes, %zu are needed", path, api->head.size,
        least);
  if (api->major != PJRT_MAJOR)
    return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
        "%s has version %d.%d of the PJRT interface, not %d", path, api->major, api->minor,
        PJRT_MAJOR);
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
    void *slot;
    memcpy (&slot, (const char *) api + needed[i], sizeof slot);
    if (!slot)
      return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
          "%s lacks a function of the PJRT interface, that of slot %zu", path,
          (needed[i] - offsetof (pjrt_api, error_destroy)) / sizeof slot);
  }
  return NMS_OK;
}

/* Loads a library, checks its table and initializes the plugin. */
static int
open_library (const char *path, const pjrt_api **api, char *error, size_t error_size)
{
  PJRT_ARGS (pjrt_initialize_args, start);
  const pjrt_api *(*get) (void);
  void *handle, *symbol;
  int code;

  handle = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size, "cannot load the plugin: %s",
        dlerror ());
  nms__process_wait_at_exit ();
  symbol = dlsym (handle, "GetPjrtApi");
  if (!symbol)
    return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
        "%s is not a PJRT plugin: it has no function GetPjrtApi", path);
  memcpy (&get, &symbol, sizeof get); /* because ISO C has no cast to a function pointer */
  *api = get ();
  code = check_table (path, *api, error, error_size);
  if (code)
    return code;
  for (const library *l = libraries; l; l = l->next)
    if (l->api == *api)
      return NMS_OK; /* loaded before under another file name */
  pjrt_error *failure = (*api)->initialize (&start);
  if (failure)
    return nms__xla_error_take (*api, failure, "the plugin does not start", error, error_size);
  return NMS_OK;
}

int
nms__xla_library_load (const char *path, const pjrt_api **api, char *error, size_t error_size)
{
  for (const library *l = libraries; l; l = l->next)
    if (!strcmp (l->path, path)) {
      *api = l->api;
      return NMS_OK;
    }

  size_t size = strlen (path) + 1;
  library *l = malloc (sizeof *l + size);
  if (!l)
    return nms__xla_error_set (NMS_ERROR_MEMORY, error, error_size, "out of memory");
  int code = open_library (path, api, error, error_size);
  if (code) {
    free (l);
    return code;
  }
  memcpy (l->path, path, size);
  l->api = *api;
  l->next = libraries;
  libraries = l;
  return NMS_OK;
}
