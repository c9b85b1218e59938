/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * faketpu: the kernel of accel/tpu/tpu.h on the fake plugin of platform
 * "tpu". It accepts a module that is, byte for byte, one that nms__tpu_module ()
 * prints, and returns the picks of the reference (tests/reference) for the buffers of a run.
 * tests/tpu tests the text of the kernel.
 */
#pragma once

#include <stddef.h>

typedef struct FakeKernel FakeKernel;

/* Returns a kernel for free (); or NULL and the reason if the text is not such a
 * module. */
FakeKernel *faketpu_compile (const char *text, size_t length, char *why, size_t size);

size_t faketpu_result_size (const FakeKernel *kernel);

/* Returns 1; or 0 and the reason if the buffers are not those that the module takes. */
int faketpu_run (const FakeKernel *kernel, const void *const *data, const size_t *sizes,
    size_t count, void *result, char *why, size_t size);

/* The functions that tests call through dlsym. First, the faults to simulate: */
enum {
  FAKETPU_RIGHT,
  FAKETPU_REFUSES,  /* no module compiles */
  FAKETPU_FAILS,    /* no program runs */
  FAKETPU_TIES,     /* ranks equal keys from the last to the first */
  FAKETPU_EQUAL,    /* an overlap at the limit exceeds it */
  FAKETPU_CAPS,     /* caps per class are ignored */
  FAKETPU_MOST,     /* the cap of the run is ignored */
  FAKETPU_CLASSES,  /* boxes of different classes suppress each other */
  FAKETPU_TWICE,    /* the first pick is returned twice */
  FAKETPU_BEYOND,   /* a pick is a position of the padding */
  FAKETPU_AFTER_END /* a pick follows the end of the list */
};
void faketpu_become (int what);

/* Return the numbers of kernels compiled, kernels run, and other modules. */
long faketpu_compiled (void);
long faketpu_ran (void);
long faketpu_others (void);

/* Returns whether the last other module contains a division. */
int faketpu_other_divides (void);
