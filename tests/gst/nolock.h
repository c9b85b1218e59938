/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nolock: replaces the object lock by nothing. Included before all else in the build in
 * which ThreadSanitizer has to find the missing locks. */
#pragma once

#define _GNU_SOURCE /* as sources define that are included later */

#include <gst/gst.h>

#undef GST_OBJECT_LOCK
#undef GST_OBJECT_UNLOCK
#define GST_OBJECT_LOCK(object) ((void) (object))
#define GST_OBJECT_UNLOCK(object) ((void) (object))
