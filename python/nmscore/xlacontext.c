/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlacontext: keeps one context with engine xla, so that the device and its programs stay open
 * between calls. The engine comes from the module _nmsaccel, in a capsule. */
#include "xlacontext.h"

#include <string.h>

/* Returns whether the spare context has the plugin and the strictness of the options. */
static int
is_spare_for (const module_state *state, const py_options *o)
{
  if (!state->xla || state->xla_strict != o->xla_strict || !state->xla_plugin != !o->plugin)
    return 0;
  return !o->plugin || !strcmp (PyBytes_AsString (state->xla_plugin), PyBytes_AsString (o->plugin));
}

/* Returns a capsule with an nms_added_engine, which frees it if it was not added. */
static PyObject *
new_engine (const py_options *o)
{
  PyObject *accel = PyImport_ImportModule ("nmscore._accel");
  PyObject *capsule = accel
      ? PyObject_CallMethod (accel, "engine", "Oi", o->plugin ? o->plugin : Py_None, o->xla_strict)
      : NULL;

  Py_XDECREF (accel);
  return capsule;
}

static int
add_engine (nms_context *ctx, const py_options *o)
{
  PyObject *capsule = new_engine (o);
  nms_added_engine *engine = capsule ? PyCapsule_GetPointer (capsule, "nms_added_engine") : NULL;
  int error = 0;

  if (engine) {
    error = nms_context_add_engine (ctx, engine);
    if (error)
      module_raise (error, ctx);
    else
      engine->free = NULL; /* the context frees it */
  }
  Py_XDECREF (capsule);
  return engine && !error ? 0 : -1;
}

nms_context *
xlacontext_take (module_state *state, const py_options *o)
{
  nms_context *ctx = state->xla;

  if (o->options.engine != NMS_ENGINE_ADDED)
    return module_take_context (state);
  if (is_spare_for (state, o)) {
    state->xla = NULL;
    return ctx;
  }
  ctx = nms_context_new ();
  if (!ctx)
    PyErr_NoMemory ();
  else if (add_engine (ctx, o) < 0)
    nms_context_free (&ctx);
  return ctx;
}

void
xlacontext_return (module_state *state, const py_options *o, nms_context *ctx)
{
  if (o->options.engine != NMS_ENGINE_ADDED) {
    module_return_context (state, ctx);
    return;
  }
  nms_context_free (&state->xla);
  Py_XDECREF (state->xla_plugin);
  state->xla = ctx;
  state->xla_strict = o->xla_strict;
  state->xla_plugin = o->plugin;
  Py_XINCREF (state->xla_plugin);
}
