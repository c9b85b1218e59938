/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pylazy: devices, inputs and reads of nmscore.lazy. A device is a capsule, a tensor an
 * int. nmscore/lazy.py converts arrays and checks arguments; this file only converts values.
 */
#include "pylazy.h"

#include "nmsxla.h"

#include <stdlib.h>

#define DEVICE "nmscore.lazy.device"

pylazy_device *
pylazy_device_of (PyObject *capsule)
{
  pylazy_device *d = PyCapsule_GetPointer (capsule, DEVICE);

  if (d && d->running) {
    PyErr_SetString (PyExc_RuntimeError, "another thread is running a program of this device");
    return NULL;
  }
  return d;
}

PyObject *
pylazy_raise (pylazy_device *d, int status)
{
  PyObject *type = status == NMS_ERROR_DEVICE || status == NMS_ERROR_UNSUPPORTED
      ? PyExc_RuntimeError
      : PyExc_ValueError;

  if (status == NMS_ERROR_MEMORY)
    PyErr_NoMemory ();
  else if (!PyErr_Occurred ())
    PyErr_SetString (type, nms_lazy_error (d->lz));
  nms_lazy_recover (d->lz);
  return NULL;
}

PyObject *
pylazy_result (pylazy_device *d, nms_lazy_tensor x)
{
  if (x == NMS_LAZY_NONE || PyErr_Occurred ())
    return pylazy_raise (d, nms_lazy_status (d->lz));
  return PyLong_FromUnsignedLongLong (x);
}

Py_ssize_t
pylazy_tensors (PyObject *sequence, nms_lazy_tensor *tensors, Py_ssize_t most)
{
  const Py_ssize_t count = PySequence_Size (sequence);

  if (count > most)
    PyErr_Format (PyExc_ValueError, "%zd tensors, at most %zd", count, most);
  for (Py_ssize_t i = 0; i < count && !PyErr_Occurred (); i++) {
    PyObject *item = PySequence_GetItem (sequence, i);
    tensors[i] = item ? PyLong_AsUnsignedLongLong (item) : 0;
    Py_XDECREF (item);
  }
  return PyErr_Occurred () ? -1 : count;
}

/* Reads up to NMS_LAZY_MAX_RANK extents or steps; numbers outside of int32 become the nearest one.
 * Returns their number, or -1 with an exception. */
int
pylazy_dims (PyObject *sequence, int32_t *dims)
{
  const Py_ssize_t count = PySequence_Size (sequence);

  if (count > NMS_LAZY_MAX_RANK)
    PyErr_Format (PyExc_ValueError, "%zd axes, at most %d", count, NMS_LAZY_MAX_RANK);
  for (Py_ssize_t i = 0; i < count && !PyErr_Occurred (); i++) {
    PyObject *item = PySequence_GetItem (sequence, i);
    const long long wide = item ? PyLong_AsLongLong (item) : 0;
    dims[i] = wide > INT32_MAX ? INT32_MAX : wide < INT32_MIN ? INT32_MIN : (int32_t) wide;
    Py_XDECREF (item);
  }
  return PyErr_Occurred () ? -1 : (int) count;
}

/* -------------------------------------------------------------------- devices */

static void
device_free (PyObject *capsule)
{
  pylazy_device *d = PyCapsule_GetPointer (capsule, DEVICE);

  nms_lazy_free (&d->lz);
  nms_lazy_cache_free (&d->cache);
  nms_xla_close (&d->backend);
  PyMem_Free (d);
}

/* lazy_open (plugin or None) -> device */
static PyObject *
lazy_open (PyObject *module, PyObject *args)
{
  const char *plugin = NULL;
  char error[512];
  int status = NMS_OK;
  PyObject *capsule;
  pylazy_device *d;

  if (!PyArg_ParseTuple (args, "z", &plugin))
    return NULL;
  d = PyMem_Calloc (1, sizeof *d);
  capsule = d ? PyCapsule_New (d, DEVICE, device_free) : PyErr_NoMemory ();
  if (!capsule) {
    PyMem_Free (d);
    return NULL;
  }
  if (plugin) {
    Py_BEGIN_ALLOW_THREADS status = nms_xla_open (plugin, &d->backend, error, sizeof error);
    Py_END_ALLOW_THREADS
  }
  if (!status) {
    d->cache = d->backend ? nms_lazy_cache_shared (d->backend) : nms_lazy_cache_new (NULL, 0);
    d->lz = nms_lazy_new (d->cache);
  }
  if (status)
    PyErr_SetString (PyExc_RuntimeError, error);
  else if (!d->lz)
    PyErr_NoMemory ();
  if (!PyErr_Occurred ())
    return capsule;
  Py_DECREF (capsule);
  return NULL;
}

/* lazy_device_name (device) -> "eager" or "xla:cpu" */
static PyObject *
lazy_device_name (PyObject *module, PyObject *capsule)
{
  const pylazy_device *d = pylazy_device_of (capsule);
  return d ? PyUnicode_FromString (d->backend ? d->backend->name : "eager") : NULL;
}

/* lazy_limit (device, programs) */
static PyObject *
lazy_limit (PyObject *module, PyObject *args)
{
  PyObject *capsule;
  Py_ssize_t programs;
  pylazy_device *d;

  if (!PyArg_ParseTuple (args, "On", &capsule, &programs) || !(d = pylazy_device_of (capsule)))
    return NULL;
  if (programs < 1)
    return PyErr_Format (PyExc_ValueError, "%zd programs, must be 1 or more", programs);
  nms_lazy_cache_limit (d->cache, (size_t) programs);
  Py_RETURN_NONE;
}

/* lazy_counters (device) -> {name: number} */
static PyObject *
lazy_counters (PyObject *module, PyObject *capsule)
{
  pylazy_device *d = pylazy_device_of (capsule);
  nms_lazy_counters c = { .size = sizeof c };

  if (!d || nms_lazy_cache_counters (d->cache, &c) < 0)
    return NULL;
  return Py_BuildValue ("{sKsKsKsKsKsKsKsKsK}", "traces", c.traces, "hits", c.hits, "misses",
      c.misses, "failures", c.failures, "evictions", c.evictions, "runs", c.runs, "compile_ns",
      c.compile_ns, "sent", c.sent, "fetched", c.fetched);
}

/* --------------------------------------------------------------------- values */

/* lazy_input (device, type, dims, buffer) -> tensor */
static PyObject *
lazy_input (PyObject *module, PyObject *args)
{
  int32_t dims[NMS_LAZY_MAX_RANK] = { 0 };
  PyObject *capsule, *shape, *result = NULL;
  Py_buffer view;
  pylazy_device *d;
  int type, rank;

  if (!PyArg_ParseTuple (args, "OiOy*", &capsule, &type, &shape, &view))
    return NULL;
  d = pylazy_device_of (capsule);
  rank = d ? pylazy_dims (shape, dims) : -1;
  if (rank >= 0)
    result = pylazy_result (d, nms_lazy_input (d->lz, (nms_lazy_type) type, rank, dims, view.buf));
  PyBuffer_Release (&view);
  return result;
}

/* lazy_constant (device, type, number) -> tensor */
static PyObject *
lazy_constant (PyObject *module, PyObject *args)
{
  PyObject *capsule;
  pylazy_device *d;
  double value;
  int type;

  if (!PyArg_ParseTuple (args, "Oid", &capsule, &type, &value) || !(d = pylazy_device_of (capsule)))
    return NULL;
  return pylazy_result (d,
      type == NMS_LAZY_F32       ? nms_lazy_number_f32 (d->lz, (float) value)
          : type == NMS_LAZY_S32 ? nms_lazy_number_s32 (d->lz, (int32_t) value)
                                 : nms_lazy_pred (d->lz, value != 0.0));
}

/* lazy_shape (device, tensor) -> (type, dims) */
static PyObject *
lazy_shape (PyObject *module, PyObject *args)
{
  unsigned long long x;
  PyObject *capsule;
  pylazy_device *d;
  nms_lazy_shape s;

  if (!PyArg_ParseTuple (args, "OK", &capsule, &x) || !(d = pylazy_device_of (capsule)))
    return NULL;
  s = nms_lazy_shape_of (d->lz, x);
  if (!s.type)
    return pylazy_raise (d, nms_lazy_status (d->lz));
  return s.rank == 0 ? Py_BuildValue ("(i())", s.type)
      : s.rank == 1  ? Py_BuildValue ("(i(i))", s.type, s.dims[0])
                     : Py_BuildValue ("(i(ii))", s.type, s.dims[0], s.dims[1]);
}

/* Reads each tensor into its writable buffer in the tuple `buffers`. None in place of a buffer
 * leaves the values on the device. */
static int
read_into (pylazy_device *d, const nms_lazy_tensor *tensors, PyObject *buffers, Py_ssize_t count)
{
  Py_buffer *views = PyMem_Calloc ((size_t) count, sizeof *views);
  void **data = PyMem_Calloc ((size_t) count, sizeof *data);
  int status = views && data ? NMS_OK : NMS_ERROR_MEMORY;

  for (Py_ssize_t i = 0; i < count && !status; i++) {
    PyObject *buffer = PyTuple_GetItem (buffers, i);
    if (!buffer || (buffer != Py_None && PyObject_GetBuffer (buffer, &views[i], PyBUF_CONTIG) < 0))
      status = NMS_ERROR_ARGUMENT;
    else
      data[i] = views[i].buf;
  }
  if (!status) {
    d->running = 1;
    Py_BEGIN_ALLOW_THREADS status = nms_lazy_read (d->lz, (size_t) count, tensors, data);
    Py_END_ALLOW_THREADS d->running = 0;
  }
  for (Py_ssize_t i = 0; i < count && views; i++)
    PyBuffer_Release (&views[i]);
  PyMem_Free (views);
  PyMem_Free (data);
  return status;
}

#define MOST NMS_LAZY_MAX_OPERATIONS

/* lazy_read (device, tensors, tuple of buffers or None) */
static PyObject *
lazy_read (PyObject *module, PyObject *args)
{
  nms_lazy_tensor tensors[MOST];
  PyObject *capsule, *sequence, *buffers;
  pylazy_device *d;
  Py_ssize_t count;
  int status;

  if (!PyArg_ParseTuple (args, "OOO!", &capsule, &sequence, &PyTuple_Type, &buffers)
      || !(d = pylazy_device_of (capsule))
      || (count = pylazy_tensors (sequence, tensors, MOST)) < 0)
    return NULL;
  status = read_into (d, tensors, buffers, count);
  if (status)
    return pylazy_raise (d, status);
  Py_RETURN_NONE;
}

/* lazy_start (device, tensors): returns before their values exist */
static PyObject *
lazy_start (PyObject *module, PyObject *args)
{
  nms_lazy_tensor tensors[MOST];
  PyObject *capsule, *sequence;
  pylazy_device *d;
  Py_ssize_t count;
  int status;

  if (!PyArg_ParseTuple (args, "OO", &capsule, &sequence) || !(d = pylazy_device_of (capsule))
      || (count = pylazy_tensors (sequence, tensors, MOST)) < 0)
    return NULL;
  d->running = 1;
  Py_BEGIN_ALLOW_THREADS status = nms_lazy_start (d->lz, (size_t) count, tensors);
  Py_END_ALLOW_THREADS d->running = 0;
  if (status)
    return pylazy_raise (d, status);
  Py_RETURN_NONE;
}

/* lazy_wait (device): ignores errors, which the read of a tensor finds again */
static PyObject *
lazy_wait (PyObject *module, PyObject *capsule)
{
  pylazy_device *d = pylazy_device_of (capsule);

  if (!d)
    return NULL;
  d->running = 1;
  Py_BEGIN_ALLOW_THREADS nms_lazy_wait (d->lz);
  Py_END_ALLOW_THREADS d->running = 0;
  Py_RETURN_NONE;
}

/* lazy_keep (device, tensors) */
static PyObject *
lazy_keep (PyObject *module, PyObject *args)
{
  nms_lazy_tensor tensors[MOST];
  PyObject *capsule, *sequence;
  pylazy_device *d;
  Py_ssize_t count;
  int status;

  if (!PyArg_ParseTuple (args, "OO", &capsule, &sequence) || !(d = pylazy_device_of (capsule))
      || (count = pylazy_tensors (sequence, tensors, MOST)) < 0)
    return NULL;
  status = nms_lazy_keep (d->lz, (size_t) count, tensors);
  if (status)
    return pylazy_raise (d, status);
  Py_RETURN_NONE;
}

/* lazy_operations (device) -> their number */
static PyObject *
lazy_operations (PyObject *module, PyObject *capsule)
{
  const pylazy_device *d = pylazy_device_of (capsule);
  return d ? PyLong_FromSize_t (nms_lazy_operations (d->lz)) : NULL;
}

/* lazy_dump (device, tensors) -> (text, hash) */
static PyObject *
lazy_dump (PyObject *module, PyObject *args)
{
  nms_lazy_tensor tensors[MOST];
  PyObject *capsule, *sequence, *result;
  pylazy_device *d;
  Py_ssize_t count;
  char *text;

  if (!PyArg_ParseTuple (args, "OO", &capsule, &sequence) || !(d = pylazy_device_of (capsule))
      || (count = pylazy_tensors (sequence, tensors, MOST)) < 0)
    return NULL;
  text = nms_lazy_dump (d->lz, (size_t) count, tensors);
  if (!text)
    return pylazy_raise (d, nms_lazy_status (d->lz));
  result = Py_BuildValue ("(sK)", text, nms_lazy_hash (d->lz, (size_t) count, tensors));
  free (text);
  return result;
}

static PyMethodDef methods[] = {
  { "lazy_open", lazy_open, METH_VARARGS, NULL },
  { "lazy_device_name", lazy_device_name, METH_O, NULL },
  { "lazy_limit", lazy_limit, METH_VARARGS, NULL },
  { "lazy_counters", lazy_counters, METH_O, NULL },
  { "lazy_input", lazy_input, METH_VARARGS, NULL },
  { "lazy_constant", lazy_constant, METH_VARARGS, NULL },
  { "lazy_shape", lazy_shape, METH_VARARGS, NULL },
  { "lazy_apply", pylazy_apply, METH_VARARGS, NULL },
  { "lazy_concatenate", pylazy_concatenate, METH_VARARGS, NULL },
  { "lazy_while", pylazy_while, METH_VARARGS, NULL },
  { "lazy_read", lazy_read, METH_VARARGS, NULL },
  { "lazy_start", lazy_start, METH_VARARGS, NULL },
  { "lazy_wait", lazy_wait, METH_O, NULL },
  { "lazy_keep", lazy_keep, METH_VARARGS, NULL },
  { "lazy_operations", lazy_operations, METH_O, NULL },
  { "lazy_dump", lazy_dump, METH_VARARGS, NULL },
  { NULL, NULL, 0, NULL },
};

int
pylazy_add (PyObject *module)
{
  return PyModule_AddFunctions (module, methods);
}
