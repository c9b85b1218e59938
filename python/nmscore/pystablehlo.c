/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pystablehlo: returns the text of a program (nmsstablehlo.h), and compiles it (nmsxla.h).
 * nmscore/export.py names the arguments. */
#include "pystablehlo.h"
#include "pyoptions.h"

#include "nmsstablehlo.h"
#include "nmsxla.h"

#include <stdlib.h>

static int
read_size (PyObject *value, const char *name, int32_t *size)
{
  uint64_t number;

  if (py_options_read_count (value, name, &number) < 0)
    return -1;
  if (number > INT32_MAX) {
    PyErr_Format (PyExc_ValueError, "%s must be below 2**31", name);
    return -1;
  }
  *size = (int32_t) number;
  return 0;
}

#define SPEC_COUNT 8

/* Reads platform, boxes, head_classes, classes, parents, bfloat16, tpu_memory and images. */
static int
read_spec (PyObject *const *args, nms_stablehlo_spec *spec)
{
  uint64_t memory;
  uint8_t classes, parents, bfloat16;

  if (read_size (args[0], "platform", &spec->platform) < 0
      || read_size (args[1], "boxes", &spec->boxes) < 0
      || read_size (args[2], "head_classes", &spec->head_classes) < 0
      || py_options_read_flag (args[3], "classes", &classes) < 0
      || py_options_read_flag (args[4], "parents", &parents) < 0
      || py_options_read_flag (args[5], "bfloat16", &bfloat16) < 0
      || py_options_read_count (args[6], "tpu_memory", &memory) < 0
      || read_size (args[7], "images", &spec->images) < 0)
    return -1;
  spec->classes = classes;
  spec->parents = parents;
  spec->bfloat16 = bfloat16;
  spec->tpu_memory = (size_t) memory;
  return 0;
}

/* Returns a list of (name, type, extents). */
static PyObject *
arrays_list (const nms_stablehlo_array *arrays, size_t count)
{
  PyObject *list = PyList_New ((Py_ssize_t) count);

  for (size_t i = 0; list && i < count; i++) {
    const nms_lazy_shape *s = &arrays[i].shape;
    const char *type = s->type == NMS_LAZY_F32 ? "float32"
        : s->type == NMS_LAZY_BF16             ? "bfloat16"
                                               : "int32";
    PyObject *dims = PyTuple_New (s->rank), *row = NULL;
    for (int k = 0; dims && k < s->rank; k++)
      PyTuple_SetItem (dims, k, PyLong_FromLong (s->dims[k]));
    if (dims && !PyErr_Occurred ())
      row = Py_BuildValue ("(ssO)", arrays[i].name, type, dims);
    Py_XDECREF (dims);
    if (row)
      PyList_SetItem (list, (Py_ssize_t) i, row);
    else
      Py_CLEAR (list);
  }
  return list;
}

PyObject *
pystablehlo_make (PyObject *module, PyObject *const *args, Py_ssize_t n)
{
  nms_stablehlo_spec spec = { .size = sizeof spec };
  nms_stablehlo program = { .size = sizeof program };
  py_options o = { .classes = NULL };
  PyObject *made = NULL;
  char why[512];

  if (n != SPEC_COUNT + PY_OPTIONS_COUNT)
    return PyErr_Format (PyExc_TypeError, "program takes %d arguments, not %zd",
        SPEC_COUNT + PY_OPTIONS_COUNT, n);
  if (read_spec (args, &spec) == 0 && py_options_read (args + SPEC_COUNT, &o) == 0) {
    const int error = nms_stablehlo_make (&spec, &o.options, &program, why, sizeof why);
    if (error == NMS_ERROR_MEMORY)
      PyErr_NoMemory ();
    else if (error)
      PyErr_SetString (PyExc_ValueError, why);
    else
      made = Py_BuildValue ("(s#NN)", program.text, (Py_ssize_t) program.length,
          arrays_list (program.input, program.input_count),
          arrays_list (program.output, program.output_count));
    nms_stablehlo_clear (&program);
  }
  py_options_free (&o);
  return made;
}

PyObject *
pystablehlo_compile (PyObject *module, PyObject *args)
{
  const char *plugin, *topology, *target, *text;
  Py_ssize_t length;
  void *executable;
  size_t size;
  char why[4096];

  if (!PyArg_ParseTuple (args, "sszs#", &plugin, &topology, &target, &text, &length))
    return NULL;
  if (nms_xla_serialize_ahead (plugin, topology, target, text, (size_t) length, &executable, &size,
          why, sizeof why))
    return PyErr_Format (PyExc_RuntimeError, "%s", why);
  PyObject *bytes = PyBytes_FromStringAndSize (executable, (Py_ssize_t) size);
  free (executable);
  return bytes;
}
