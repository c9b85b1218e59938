/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fpmode: saves the floating-point mode, sets rounding to nearest with subnormals and without
 * traps, and restores the saved mode. Results must not depend on flush-to-zero or a rounding
 * mode that other code in the process has set. On x86-64 and AArch64 it writes the control
 * register directly, because fegetenv takes longer than the NMS of a small frame.
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
  __asm__ volatile("mrs %0, fpcr" : "=r"(saved));
  __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t) 0) : "memory");
  return saved;
}

static inline void
nms__fpmode_leave (nms__fpmode saved)
{
  __asm__ volatile("msr fpcr, %0" : : "r"(saved) : "memory");
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
