/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wrappedpjrt: a plugin that simulates faults of the real plugin in
 * NMS_TEST_XLA_PLUGIN, as wrappedpjrt.h describes. Its table is that of the real
 * plugin with functions replaced.
 */
#include "accel/xla/pjrt.h"
#include "wrappedpjrt.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__ ((visibility ("default")))

static const pjrt_api *real;
static atomic_int as;
static atomic_long compiled, executed, sent, received;
static atomic_long since; /* arrays received since wrappedpjrt_become (), three in a run */

/* Maximum number of values in a program's text. A value has a name such as %v7 or %g7; name_at ()
 * turns it into a number below NAMES. */
enum { NAMES = 1 << 14 };

/* The factors of the product that a name stands for. */
typedef struct {
  char factors[2][16];
} product;

static unsigned
name_at (const char *at)
{
  unsigned long number;

  if (at[0] != '%' || (at[1] != 'v' && at[1] != 'g') || !isdigit ((unsigned char) at[2]))
    return 0;
  number = strtoul (at + 2, NULL, 10);
  return number < NAMES / 2 - 1 ? 2 * (unsigned) number + (at[1] == 'g') + 2 : 0;
}

/* Reads a line `%name = "stablehlo.OP"(%a, %b) : (TYPE, ...` of floats. */
typedef struct {
  char name[16], op[24], operands[2][16], type[64];
} operation;

static int
parse (const char *line, operation *o)
{
  return sscanf (line,
             "%15[%a-z0-9] = \"stablehlo.%23[a-z_]\"(%15[%a-z0-9], %15[%a-z0-9]) : "
             "(%63[a-z0-9<>],",
             o->name, o->op, o->operands[0], o->operands[1], o->type)
      == 5
      && strstr (o->type, "f32>");
}

/* Writes sum - a * b with one rounding, as a contracting device computes it: in
 * binary64, which holds the product exactly. */
static char *
put_contracted (char *to, const operation *o, const char *sum, const product *p, const char *op)
{
  const char *values[] = { sum, p->factors[0], p->factors[1] };
  char wide[64];
  int n = (int) (strstr (o->type, "f32>") - o->type);

  snprintf (wide, sizeof wide, "%.*sf64>", n, o->type);
  for (int i = 0; i < 3; i++)
    to += sprintf (to, "%%x%d_%s = \"stablehlo.convert\"(%s) : (%s) -> %s\n", i, o->name + 1,
        values[i], o->type, wide);
  to += sprintf (to, "%%x3_%s = \"stablehlo.multiply\"(%%x1_%s, %%x2_%s) : (%s, %s) -> %s\n",
      o->name + 1, o->name + 1, o->name + 1, wide, wide, wide);
  to += sprintf (to, "%%x4_%s = \"stablehlo.%s\"(%%x0_%s, %%x3_%s) : (%s, %s) -> %s\n", o->name + 1,
      op, o->name + 1, o->name + 1, wide, wide, wide);
  to += sprintf (to, "%s = \"stablehlo.convert\"(%%x4_%s) : (%s) -> %s\n", o->name, o->name + 1,
      wide, o->type);
  return to;
}

/* Returns the text, as a new string, with contractions: a sum uses the unrounded
 * product, also across a maximum. */
static char *
contracted (const char *text, size_t *length)
{
  product *products = calloc (NAMES, sizeof *products);
  char *in = strndup (text, *length), *out = calloc (16, *length + 1), *to = out;

  for (char *line = in, *end; *line; line = end) {
    operation o;
    end = strchr (line, '\n');
    end = end ? end + 1 : line + strlen (line);
    if (parse (line, &o)) {
      product *own = &products[name_at (o.name)];
      const product *first = &products[name_at (o.operands[0])];
      const product *second = &products[name_at (o.operands[1])];
      if (!strcmp (o.op, "multiply"))
        memcpy (own->factors, o.operands, sizeof own->factors);
      if (!strcmp (o.op, "maximum"))
        *own = *first;
      if ((!strcmp (o.op, "subtract") || !strcmp (o.op, "add")) && *second->factors[0]) {
        to = put_contracted (to, &o, o.operands[0], second, o.op);
        continue;
      }
      if (!strcmp (o.op, "add") && *first->factors[0]) {
        to = put_contracted (to, &o, o.operands[1], first, o.op);
        continue;
      }
    }
    memcpy (to, line, (size_t) (end - line));
    to += end - line;
  }
  *length = (size_t) (to - out);
  free (in);
  free (products);
  return out;
}

/* Returns an error of the real plugin, that of a malformed program. */
static pjrt_error *
failure (pjrt_client_compile_args *a)
{
  pjrt_program nonsense = *a->program;
  pjrt_client_compile_args args = *a;

  nonsense.code = "this is no program";
  nonsense.code_size = 18;
  args.program = &nonsense;
  return real->client_compile (&args);
}

static pjrt_client_compile_args last; /* for failure () */
static pjrt_program last_program;

static pjrt_error *
compile (pjrt_client_compile_args *a)
{
  pjrt_program program = *a->program;
  pjrt_client_compile_args args = *a;
  pjrt_error *error;
  char *text = NULL;

  compiled++;
  last = *a;
  last_program = *a->program;
  last.program = &last_program;
  if (as == WRAPPED_COMPILE_FAILS)
    return failure (a);
  if (as == WRAPPED_CONTRACTS) {
    text = contracted (program.code, &program.code_size);
    program.code = text;
    args.program = &program;
  }
  error = real->client_compile (&args);
  a->executable = args.executable;
  free (text);
  return error;
}

static pjrt_error *
execute (pjrt_execute_args *a)
{
  executed++;
  return as == WRAPPED_EXECUTE_FAILS ? failure (&last) : real->execute (a);
}

static pjrt_error *
from_host (pjrt_from_host_args *a)
{
  sent++;
  return real->from_host (a);
}

/* A call without memory only asks for the size. */
static pjrt_error *
to_host (pjrt_to_host_args *a)
{
  static const int32_t wrong = 1 << 30;
  pjrt_error *error = real->to_host (a);

  if (!a->data)
    return error;
  received++;
  if (!error && as == WRAPPED_SPOILS_1 + since++ % 2) {
    pjrt_event_args copied = { .head.size = sizeof copied, .event = a->event };
    error = real->event_await (&copied);
    memcpy (a->data, &wrong, sizeof wrong);
  }
  return error;
}

VISIBLE void
wrappedpjrt_become (int what)
{
  since = 0;
  as = what;
}

VISIBLE long
wrappedpjrt_compiled (void)
{
  return compiled;
}

VISIBLE long
wrappedpjrt_executed (void)
{
  return executed;
}

VISIBLE long
wrappedpjrt_sent (void)
{
  return sent;
}

VISIBLE long
wrappedpjrt_received (void)
{
  return received;
}

const pjrt_api *GetPjrtApi (void);

VISIBLE const pjrt_api *
GetPjrtApi (void)
{
  static pjrt_api api;
  const char *path = getenv ("NMS_TEST_XLA_PLUGIN");
  void *library = path ? dlopen (path, RTLD_NOW | RTLD_LOCAL) : NULL;
  const pjrt_api *(*get) (void) = NULL;

  if (library)
    *(void **) &get = dlsym (library, "GetPjrtApi");
  real = get ? get () : NULL;
  if (!real)
    return NULL;
  memcpy (&api, real, real->head.size < sizeof api ? real->head.size : sizeof api);
  api.head.size = sizeof api;
  api.client_compile = compile;
  api.execute = execute;
  api.from_host = from_host;
  api.to_host = to_host;
  return &api;
}
