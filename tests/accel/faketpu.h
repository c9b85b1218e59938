/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * faketpu: the kernel of nmscore/accel/mosaic/mosaic.h on the fake plugin of platform
 * "tpu". A module is taken when it is, byte for byte, one that
 * nms__mosaic_module () writes; what its kernel would do is done one box at a
 * time from the buffers of a run, as the header has their meaning. Whether the
 * kernel's own text does that is the business of tests/tpu.
 */
#pragma once

#include <stddef.h>

typedef struct FakeKernel FakeKernel;

/* NULL, and why: not such a module. Free with free (). */
FakeKernel *faketpu_compile (const char *text, size_t length, char *why, size_t size);

size_t faketpu_result_size (const FakeKernel *kernel);

/* 0, and why: the buffers are not those that the module takes. */
int faketpu_run (const FakeKernel *kernel, const void *const *data, const size_t *sizes,
    size_t count, void *result, char *why, size_t size);

/* What a test asks of the plugin, by dlsym: how to behave... */
enum {
  FAKETPU_RIGHT,
  FAKETPU_REFUSES,    /* no module compiles */
  FAKETPU_FAILS,      /* no program runs */
  FAKETPU_TIES,       /* of equal keys the last ranks first */
  FAKETPU_CONTRACTS,  /* a union by a fused multiply-add */
  FAKETPU_EQUAL,      /* at the limit is beyond it */
  FAKETPU_CAPS,       /* caps per class are ignored */
  FAKETPU_MOST,       /* the run's own cap is */
  FAKETPU_CLASSES,    /* boxes of unlike classes meet */
  FAKETPU_TWICE,      /* the first pick comes again */
  FAKETPU_BEYOND,     /* a pick of the padding */
  FAKETPU_AFTER_END   /* a pick behind the last one */
};
void faketpu_become (int what);

/* ... and what it saw: kernels compiled, kernels run, other modules. */
long faketpu_compiled (void);
long faketpu_ran (void);
long faketpu_others (void);

/* Whether the last other module divided. */
int faketpu_other_divides (void);
