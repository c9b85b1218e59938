/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sanitized: SANITIZED is 1 if the address sanitizer is in this program, else 0. The
 * sanitizer keeps freed memory for a while, and has to be loaded into programs that a
 * test starts. If a process forks while another of its threads allocates, the locks of the
 * sanitizer's allocator may stay locked in the forked process for ever (before LLVM 17). */
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif
