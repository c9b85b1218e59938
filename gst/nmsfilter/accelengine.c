/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * accelengine: libnmsaccel is opened and not linked, so that a process without engine xla maps
 * nothing of it. It is never closed, because threads of XLA may outlive the element.
 */
#include "accelengine.h"

#include <dlfcn.h>
#include <string.h>

/* The two functions of nmsxla.h that are used. */
typedef int (*XlaEngine) (const char *plugin, unsigned flags, nms_added_engine *engine);
typedef int (*ProbeCheck) (char *error, size_t error_size);

#define STRICT 1 /* NMS_XLA_STRICT */

/* Returns a function of the library in `symbol`, or NULL and the reason in *why. */
static gboolean
look_up (void *library, const gchar *name, void *function, const gchar **why)
{
  void *symbol = dlsym (library, name);

  if (symbol == NULL)
    *why = dlerror ();
  else
    memcpy (function, &symbol, sizeof symbol); /* ISO C has no cast to a function pointer */
  return symbol != NULL;
}

/* Opens the library by its name, or else the one that was installed with this plugin. */
static gboolean
open_library (XlaEngine *engine, ProbeCheck *check, const gchar **why)
{
  void *library = dlopen (ACCEL_SONAME, RTLD_NOW | RTLD_LOCAL);

  if (library == NULL)
    library = dlopen (ACCEL_FOLDER "/" ACCEL_SONAME, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    *why = dlerror ();
    return FALSE;
  }
  return look_up (library, "nms_xla_engine", engine, why)
      && look_up (library, "nms_xla_probe_check", check, why);
}

static gboolean
post_missing (GstElement *element, gboolean strict, const gchar *why)
{
  static const gchar text[] = "Engine xla needs " ACCEL_SONAME ", which Debian's package "
                              "libnmsaccel0 contains";

  if (strict)
    GST_ELEMENT_ERROR (element, LIBRARY, INIT, ("%s.", text), ("%s", why));
  else
    GST_ELEMENT_WARNING (element, LIBRARY, INIT, ("%s; another engine runs instead.", text),
        ("%s", why));
  return !strict;
}

gboolean
accel_engine_add (AccelEngine *self, GstElement *element, nms_context *context, const gchar *plugin,
    gboolean strict)
{
  nms_added_engine engine = { .size = sizeof engine };
  XlaEngine make;
  ProbeCheck check;
  const gchar *why;
  gchar reason[256];
  gint res;

  if (self->tried)
    return TRUE;
  self->tried = TRUE;
  if (!open_library (&make, &check, &why))
    return post_missing (element, strict, why);
  if (check (reason, sizeof reason) < 0)
    GST_ELEMENT_WARNING (element, LIBRARY, SETTINGS,
        ("Engine xla opens its plugin without a trial: %s.", reason), (NULL));
  res = make (plugin, strict ? STRICT : 0, &engine);
  if (res == 0) {
    GST_OBJECT_LOCK (element);
    res = nms_context_add_engine (context, &engine);
    GST_OBJECT_UNLOCK (element);
  }
  if (res < 0) {
    GST_ELEMENT_ERROR (element, LIBRARY, INIT, ("Cannot add engine xla: %s.", nms_strerror (res)),
        (NULL));
    return FALSE;
  }
  self->added = TRUE;
  return TRUE;
}

void
accel_engine_warn (AccelEngine *self, GstElement *element, nms_context *context)
{
  const gchar *reason = nms_context_engine_reason (context);

  if (reason == NULL || self->warned)
    return;
  self->warned = TRUE;
  GST_ELEMENT_WARNING (element, LIBRARY, SETTINGS, ("Engine xla cannot be used: %s.", reason),
      ("another engine runs instead, with the same result"));
}
