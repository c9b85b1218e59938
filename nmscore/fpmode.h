/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fpmode: other code in the process leaves flush-to-zero on or another
 * rounding mode set; results must not depend on it. Saves the mode, sets
 * rounding to nearest with subnormals and no traps, restores it. On x86-64 and
 * AArch64 the control register directly: fegetenv would cost more than a small
 * frame's whole NMS.
 */
#ifndef NMS_FPMODE_H
#define NMS_FPMODE_H

#if defined(__SSE2__)
#include <xmmintrin.h>
typedef unsigned int nms__fpmode;

static inline nms__fpmode
nms__fpmode_enter (void)
{
  nms__fpmode saved = _mm_getcsr ();
  _mm_setcsr (0x1f80);
  return saved;
}

static inline void
nms__fpmode_leave (nms__fpmode saved)
{
  _mm_setcsr (saved);
}

#elif defined(__aarch64__)
#include <stdint.h>
typedef uint64_t nms__fpmode;

static inline nms__fpmode
nms__fpmode_enter (void)
{
  nms__fpmode saved;
  __asm__ volatile ("mrs %0, fpcr" : "=r" (saved));
  __asm__ volatile ("msr fpcr, %0" : : "r" ((uint64_t) 0) : "memory");
  return saved;
}

static inline void
nms__fpmode_leave (nms__fpmode saved)
{
  __asm__ volatile ("msr fpcr, %0" : : "r" (saved) : "memory");
}

#else
#include <fenv.h>
typedef fenv_t nms__fpmode;

static inline nms__fpmode
nms__fpmode_enter (void)
{
  nms__fpmode saved;
  fegetenv (&saved);
  fesetenv (FE_DFL_ENV);
  return saved;
}

static inline void
nms__fpmode_leave (nms__fpmode saved)
{
  fesetenv (&saved);
}
#endif

#endif
