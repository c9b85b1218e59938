/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* arrayview: opens arrays by the buffer protocol and by DLPack. */
#include "arrayview.h"
#include "dlpack.h"

#include <string.h>

static number_kind
kind_of_format (const char *format)
{
  const char native = PY_BIG_ENDIAN ? '>' : '<';

  if (*format == '@' || *format == '=' || *format == native)
    format++;
  if (!format[0] || format[1])
    return NUMBER_OTHER;
  if (strchr ("efd", format[0]))
    return NUMBER_FLOAT;
  if (strchr ("bhilqn", format[0]))
    return NUMBER_INT;
  if (strchr ("BHILQN", format[0]))
    return NUMBER_UINT;
  return format[0] == '?' ? NUMBER_BOOL : NUMBER_OTHER;
}

/* Sets the shape, and the strides of an array in C order without gaps. */
static void
pack (array_view *view, const Py_ssize_t *shape)
{
  Py_ssize_t stride = view->bits / 8;
  for (int i = view->ndim - 1; i >= 0; i--) {
    view->shape[i] = shape[i];
    view->strides[i] = stride;
    stride *= shape[i];
  }
}

/* Returns whether the object has a buffer of plain numbers. */
static bool
open_buffer (PyObject *object, array_view *view)
{
  if (!PyObject_CheckBuffer (object))
    return false;
  if (PyObject_GetBuffer (object, &view->buffer, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0) {
    PyErr_Clear ();
    return false;
  }
  const Py_buffer *b = &view->buffer;
  view->kind = b->format ? kind_of_format (b->format) : NUMBER_UINT;
  if (view->kind == NUMBER_OTHER || b->ndim > ARRAY_MAX_DIMS) {
    array_view_close (view);
    return false;
  }
  view->data = b->buf;
  view->ndim = b->ndim;
  view->bits = 8 * (unsigned) b->itemsize;
  pack (view, b->shape);
  for (int i = 0; b->strides && i < b->ndim; i++) /* NULL for the arrays of ctypes */
    view->strides[i] = b->strides[i];
  return true;
}

static number_kind
kind_of_code (const dlpack_tensor *tensor)
{
  const unsigned bits = tensor->bits;

  if (tensor->lanes != 1 || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
    return NUMBER_OTHER;
  switch (tensor->code) {
    case DLPACK_INT:
      return NUMBER_INT;
    case DLPACK_UINT:
      return NUMBER_UINT;
    case DLPACK_FLOAT:
      return bits >= 16 ? NUMBER_FLOAT : NUMBER_OTHER;
    case DLPACK_BFLOAT:
      return bits == 16 ? NUMBER_BFLOAT : NUMBER_OTHER;
    case DLPACK_BOOL:
      return bits == 8 ? NUMBER_BOOL : NUMBER_OTHER;
    default:
      return NUMBER_OTHER;
  }
}

/* Returns whether the dimensions and the size in bytes are possible. Strides of 0 allow any size,
 * which would overflow where memory for the elements is allocated. */
static bool
is_possible (const dlpack_tensor *tensor)
{
  int64_t size = tensor->bits / 8;

  if (tensor->ndim < 0)
    return false;
  for (int i = 0; i < tensor->ndim; i++) {
    const int64_t length = tensor->shape[i];

    if (length < 0 || (length > 0 && size > PY_SSIZE_T_MAX / length))
      return false;
    size *= length > 0 ? length : 1;
  }
  return true;
}

static void
view_tensor (const dlpack_tensor *tensor, array_view *view)
{
  Py_ssize_t shape[ARRAY_MAX_DIMS];

  view->data = tensor->data ? (const char *) tensor->data + tensor->byte_offset : NULL;
  view->ndim = tensor->ndim;
  view->bits = tensor->bits;
  for (int i = 0; i < tensor->ndim; i++)
    shape[i] = (Py_ssize_t) tensor->shape[i];
  pack (view, shape);
  for (int i = 0; tensor->strides && i < tensor->ndim; i++)
    view->strides[i] = (Py_ssize_t) tensor->strides[i] * (tensor->bits / 8);
}

/* Opens the array that `tensor` describes and `lender` keeps; takes the reference to `lender`.
 * Returns 1, 0 if its elements are no plain numbers, or -1 with an exception if they are in the
 * memory of another device. */
static int
open_tensor (const dlpack_tensor *tensor, PyObject *lender, const char *name, array_view *view)
{
  view->lender = lender;
  if (tensor->device_type != DLPACK_CPU && tensor->device_type != DLPACK_CUDA_HOST
      && tensor->device_type != DLPACK_ROCM_HOST) {
    PyErr_Format (PyExc_ValueError,
        "%s must be in the memory of the CPU, not of a device of"
        " DLPack's type %d",
        name, (int) tensor->device_type);
    array_view_close (view);
    return -1;
  }
  view->kind = kind_of_code (tensor);
  if (view->kind == NUMBER_OTHER || tensor->ndim > ARRAY_MAX_DIMS) {
    array_view_close (view);
    return 0;
  }
  if (!is_possible (tensor)) {
    PyErr_Format (PyExc_ValueError, "%s has a shape that no array can have", name);
    array_view_close (view);
    return -1;
  }
  view_tensor (tensor, view);
  return 1;
}

/* Clears the exception that is set and returns 0; or keeps it and returns -1 if it must end the
 * program, such as KeyboardInterrupt. */
static int
forget (void)
{
  if (!PyErr_ExceptionMatches (PyExc_Exception))
    return -1;
  PyErr_Clear ();
  return 0;
}

/* Returns whether the elements can be read: an array that is only traced has no memory for them,
 * and an empty one needs none. */
static bool
has_memory (const dlpack_tensor *tensor)
{
  for (int i = 0; i < tensor->ndim; i++)
    if (tensor->shape[i] == 0)
      return true;
  return tensor->data != NULL;
}

/* Describes an array by the functions of its type. Returns 1, 0 if the type has none or they do not
 * describe this array, or -1 with an exception. */
static int
describe (module_state *state, PyObject *object, dlpack_tensor *tensor)
{
  PyObject *capsule = PyObject_GetAttr ((PyObject *) Py_TYPE (object), state->exchange_name);
  const dlpack_exchange *exchange = capsule ? PyCapsule_GetPointer (capsule, DLPACK_EXCHANGE)
                                            : NULL;

  Py_XDECREF (capsule); /* the table lives as long as the process */
  while (exchange && exchange->major > 1)
    exchange = exchange->previous;
  if (exchange && exchange->major == 1 && exchange->view (object, tensor) == 0)
    return has_memory (tensor);
  return PyErr_Occurred () ? forget () : 0;
}

/* Returns 1 if the object lends plain numbers by DLPack, 0 if not, -1 with an exception. */
static int
open_dlpack (module_state *state, PyObject *object, const char *name, array_view *view)
{
  dlpack_tensor tensor = { .data = NULL };
  int described = describe (state, object, &tensor);

  if (described < 0)
    return -1;
  if (described) {
    Py_INCREF (object);
    return open_tensor (&tensor, object, name, view);
  }
  PyObject *capsule = PyObject_CallMethodObjArgs (object, state->dlpack_name, NULL);
  dlpack_managed *managed = capsule ? PyCapsule_GetPointer (capsule, DLPACK_CAPSULE) : NULL;
  if (managed) /* the capsule keeps its name, so that its destructor frees the tensor */
    return open_tensor (&managed->tensor, capsule, name, view);
  const int error = forget ();
  if (!error)
    Py_XDECREF (capsule);
  return error;
}

int
array_view_open (module_state *state, PyObject *object, const char *name, array_view *view)
{
  /* refused, because the buffer of a masked array does not contain the mask */
  if (PyObject_TypeCheck (object, (PyTypeObject *) state->masked)) {
    PyErr_Format (PyExc_TypeError,
        "%s must not be a masked array: select the boxes that are not"
        " masked, or pass the array's data",
        name);
    return -1;
  }
  if (open_buffer (object, view))
    return 0;
  int lent = object == Py_None ? 0 : open_dlpack (state, object, name, view);
  if (lent)
    return lent < 0 ? -1 : 0;
  PyObject *plain = PyObject_CallFunction (state->plain, "Os", object, name);
  if (!plain)
    return -1;
  bool opened = open_buffer (plain, view);
  Py_DECREF (plain); /* the buffer holds another reference */
  if (opened)
    return 0;
  PyErr_Format (PyExc_ValueError, "%s must have at most %d dimensions", name, ARRAY_MAX_DIMS);
  return -1;
}

void
array_view_close (array_view *view)
{
  PyObject *type, *value, *traceback;

  PyBuffer_Release (&view->buffer);
  if (!view->lender)
    return;
  PyErr_Fetch (&type, &value, &traceback); /* because the destructor may run Python code */
  Py_CLEAR (view->lender);
  PyErr_Restore (type, value, traceback);
}

Py_ssize_t
array_view_size (const array_view *view)
{
  Py_ssize_t size = 1;
  for (int i = 0; i < view->ndim; i++)
    size *= view->shape[i];
  return size;
}

int
array_view_shape_error (const array_view *view, const char *name, const char *wanted)
{
  PyObject *shape = PyTuple_New (view->ndim);
  for (int i = 0; shape && i < view->ndim; i++)
    PyTuple_SetItem (shape, i, PyLong_FromSsize_t (view->shape[i]));
  if (shape)
    PyErr_Format (PyExc_ValueError, "%s must have shape %s, not %R", name, wanted, shape);
  Py_XDECREF (shape);
  return -1;
}

int
array_view_kind_error (const array_view *view, const char *name, const char *wanted)
{
  static const char *const kinds[] = { "others", "int", "uint", "float", "bfloat", "bool" };

  if (view->kind == NUMBER_BOOL)
    PyErr_Format (PyExc_TypeError, "%s must hold %s, not bool", name, wanted);
  else
    PyErr_Format (PyExc_TypeError, "%s must hold %s, not %s%u", name, wanted, kinds[view->kind],
        view->bits);
  return -1;
}
