/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fakepjrt: a PJRT plugin without a compiler, built several times with different texts FAKE:
 *
 *   none    no function GetPjrtApi: meson.build renames it
 *   marks   as none; creates the file that NMS_TEST_MARK names when loaded
 *   null    GetPjrtApi returns NULL
 *   small   a table that ends before the last function that the library uses
 *   major   another major version of the interface
 *   hole    a slot without a function
 *   start   initialize fails, with a message of one line that no zero byte ends
 *   empty   a client without devices
 *   abort   aborts the process when loaded
 *   crash   initialize reads through a null pointer
 *   quit    creating a client ends the process with status 0
 *   hang    GetPjrtApi never returns
 *   stall   compiling never returns
 *   late    compiling takes 1 s, or the seconds that NMS_TEST_COMPILE names, and registers a
 *           destructor that aborts the process if it runs before the end
 *   stuck   closing the client never returns, except in nms-xla-probe
 *   works   works: a program returns its first inputs and computes nothing
 *
 * The plugin fails on request and counts the objects that have not been destroyed (fakepjrt.h).
 * Like a real plugin it checks the sizes of argument structs.
 */
#include "accel/xla/pjrt.h"
#include "fakepjrt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IS(kind) (!strcmp (FAKE, kind))
#define VISIBLE __attribute__ ((visibility ("default")))

VISIBLE FakePjrt fakepjrt;

__attribute__ ((constructor)) static void
be_loaded (void)
{
  const char *name = IS ("marks") ? getenv ("NMS_TEST_MARK") : NULL;
  FILE *file = name ? fopen (name, "w") : NULL;

  if (file)
    fclose (file);
  if (IS ("abort"))
    abort ();
}

/* Blocks for ever, as a driver does that waits for an absent device. */
static void
block (void)
{
  for (;;)
    sleep (1);
}

struct pjrt_error {
  char text[160];
};
struct pjrt_device {
  int unused;
};
struct pjrt_buffer {
  size_t size;
  char data[];
};
struct pjrt_executable {
  size_t outputs;
};
struct pjrt_loaded_executable {
  size_t outputs;
};

static void *
make (size_t size)
{
  void *object = calloc (1, size);
  if (!object)
    abort ();
  fakepjrt.objects++;
  return object;
}

static void
unmake (void *object)
{
  if (object) {
    fakepjrt.objects--;
    free (object);
  }
}

static pjrt_error *
fail (const char *what, const char *why)
{
  pjrt_error *error = make (sizeof *error);
  snprintf (error->text, sizeof error->text, "\n%s %s\nand more lines", what, why);
  return error;
}

/* Starts a call: returns an error if the test asked for it, or if the struct of arguments
 * is too small or has extensions. */
static pjrt_error *
begin (const pjrt_head *head, size_t size, const char *what)
{
  if (head->size < size)
    return fail (what, "was given too small a struct");
  if (head->extensions)
    return fail (what, "was given an extension");
  if (++fakepjrt.calls == fakepjrt.fail_at)
    return fail (what, "fails on request");
  return NULL;
}

#define BEGIN(what) \
  do { \
    pjrt_error *error = begin (&a->head, sizeof *a, what); \
    if (error) \
      return error; \
  } while (0)

static void
error_destroy (pjrt_error_args *a)
{
  unmake (a->error);
}

static void
error_message (pjrt_error_message_args *a)
{
  a->message = a->error->text;
  a->message_size = strcspn (a->error->text, "@");
}

/* Defines a function that destroys a field of its arguments, also if it fails. */
#define DESTROY(name, arguments, field) \
  static pjrt_error *name (arguments *a) \
  { \
    unmake (a->field); \
    BEGIN (#name); \
    return NULL; \
  }

DESTROY (event_destroy, pjrt_event_args, event)
DESTROY (buffer_destroy, pjrt_buffer_args, buffer)
DESTROY (executable_destroy, pjrt_executable_args, executable)
DESTROY (loaded_executable_destroy, pjrt_loaded_executable_args, executable)
DESTROY (destroy_client, pjrt_client_args, client)

static pjrt_error *
initialize (pjrt_initialize_args *a)
{
  if (IS ("start"))
    return fail ("initialize", "always fails@not a part of the message");
  if (IS ("crash"))
    a = *(pjrt_initialize_args *volatile *) NULL;
  BEGIN ("initialize");
  return NULL;
}

static pjrt_error *
event_await (pjrt_event_args *a)
{
  BEGIN ("event_await");
  return NULL;
}

static pjrt_error *
client_create (pjrt_client_create_args *a)
{
  BEGIN ("client_create");
  if (IS ("quit"))
    exit (0);
  a->client = make (1);
  return NULL;
}

static pjrt_error *
client_destroy (pjrt_client_args *a)
{
  const char *probe = getenv ("NMS_XLA_PROBE");

  if (IS ("stuck") && (!probe || *probe))
    block ();
  return destroy_client (a);
}

static pjrt_error *
platform_name (pjrt_platform_name_args *a)
{
  BEGIN ("platform_name");
  a->name = "fake and no more";
  a->name_size = 4;
  return NULL;
}

static pjrt_error *
addressable_devices (pjrt_devices_args *a)
{
  static pjrt_device device;
  static pjrt_device *const list[] = { &device };
  BEGIN ("addressable_devices");
  a->devices = list;
  a->device_count = !IS ("empty");
  return NULL;
}

static atomic_int compiling;

static void
destroy_compiler (void)
{
  if (compiling)
    abort ();
}

/* Reads the number of outputs, which follows "outputs " in the text. */
static pjrt_error *
client_compile (pjrt_client_compile_args *a)
{
  const char *outputs;
  char text[64] = "";
  BEGIN ("client_compile");
  if (IS ("stall"))
    block ();
  if (IS ("late")) {
    compiling = 1;
    atexit (destroy_compiler);
    sleep (getenv ("NMS_TEST_COMPILE") ? (unsigned) atoi (getenv ("NMS_TEST_COMPILE")) : 1);
    compiling = 0;
  }
  memcpy (text, a->program->code, a->program->code_size < 63 ? a->program->code_size : 63);
  outputs = strstr (text, "outputs ");
  a->executable = make (sizeof *a->executable);
  a->executable->outputs = outputs ? (size_t) atoi (outputs + 8) : 1;
  return NULL;
}

static pjrt_error *
from_host (pjrt_from_host_args *a)
{
  size_t size = a->type == PJRT_PRED ? 1 : 4;
  BEGIN ("from_host");
  for (size_t i = 0; i < a->dim_count; i++)
    size *= (size_t) a->dims[i];
  a->buffer = make (sizeof *a->buffer + size);
  a->buffer->size = size;
  memcpy (a->buffer->data, a->data, size);
  a->done = make (1);
  return NULL;
}

static pjrt_error *
to_host (pjrt_to_host_args *a)
{
  BEGIN ("to_host");
  if (!a->data) {
    a->size = a->source->size;
    return NULL;
  }
  if (a->size < a->source->size)
    return fail ("to_host", "was given too little room");
  memcpy (a->data, a->source->data, a->source->size);
  a->event = make (1);
  return NULL;
}

static pjrt_error *
get_executable (pjrt_get_executable_args *a)
{
  BEGIN ("get_executable");
  a->executable = make (sizeof *a->executable);
  a->executable->outputs = a->loaded->outputs;
  return NULL;
}

static pjrt_error *
output_count (pjrt_output_count_args *a)
{
  BEGIN ("output_count");
  a->count = a->executable->outputs;
  return NULL;
}

static pjrt_error *
execute (pjrt_execute_args *a)
{
  const size_t options = sizeof *a->options;
  BEGIN ("execute");
  if (a->options->head.size < options)
    return fail ("execute", "was given too small a struct");
  for (size_t i = 0; i < a->executable->outputs; i++) {
    const pjrt_buffer *from = a->arguments[0][i % a->argument_count];
    a->outputs[0][i] = make (sizeof *from + from->size);
    memcpy (a->outputs[0][i], from, sizeof *from + from->size);
  }
  a->done[0] = make (1);
  return NULL;
}

const pjrt_api *GetPjrtApi (void);

VISIBLE const pjrt_api *
GetPjrtApi (void)
{
  static pjrt_api api;

  api = (pjrt_api) {
    .head.size = sizeof api,
    .version_head.size = sizeof (pjrt_head) + 8,
    .major = PJRT_MAJOR,
    .minor = 81,
    .error_destroy = error_destroy,
    .error_message = error_message,
    .initialize = initialize,
    .event_destroy = event_destroy,
    .event_await = event_await,
    .client_create = client_create,
    .client_destroy = client_destroy,
    .platform_name = platform_name,
    .addressable_devices = addressable_devices,
    .client_compile = client_compile,
    .from_host = from_host,
    .executable_destroy = executable_destroy,
    .output_count = output_count,
    .loaded_executable_destroy = loaded_executable_destroy,
    .get_executable = get_executable,
    .execute = execute,
    .buffer_destroy = buffer_destroy,
    .to_host = to_host,
  };
  if (IS ("hang"))
    block ();
  if (IS ("small"))
    api.head.size = offsetof (pjrt_api, to_host);
  if (IS ("major"))
    api.major = 1;
  if (IS ("hole"))
    api.execute = NULL;
  return IS ("null") ? NULL : &api;
}
