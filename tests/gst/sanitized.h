/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sanitized: whether the address sanitizer is in this program: SANITIZED is 1
 * or 0. It keeps freed memory for a while, and wants to be in programs started
 * from here too. */
#pragma once

#if defined (__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined (__has_feature)
#if __has_feature (address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif
