/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replayenums: the enumerations among boxreplay's properties. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum
{
  EXISTING_KEEP = 0,
  EXISTING_REPLACE = 1,
} Existing;

typedef enum
{
  ON_ERROR_FAIL = 0,
  ON_ERROR_SKIP = 1,
} OnError;

GType replay_format_get_type (void);     /* BoxFormat */
GType replay_match_get_type (void);      /* BoxMatchBy */
GType replay_existing_get_type (void);
GType replay_meta_get_type (void);       /* BoxMetaKind */
GType replay_on_error_get_type (void);

G_END_DECLS
