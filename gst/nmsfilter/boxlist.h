/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxlist: filters the boxes of frames that are in no buffer, as a boxselect and an nmsfilter
 * behind it filter those of buffers.
 */
#pragma once

#include "boxsuppress.h"
#include "filtersettings.h"
#include "selectsettings.h"

G_BEGIN_DECLS

/* The properties of both elements. */
typedef struct
{
  FilterSettings filter;
  SelectSettings select;
  GstNmsAction action;
} BoxListSettings;

typedef struct _BoxList BoxList;

/* Returns a new object, one for each thread, which keeps scratch memory from frame to frame. _free
 * accepts NULL. */
BoxList *box_list_new (BoxListSettings *settings);
void box_list_free (BoxList *self);

/* Filters an array of Box of a frame of this size (0 if unknown). parent_id tells which boxes are
 * parts of others. Removes or tags boxes as the settings say, and writes new places and
 * confidences. Returns the number of boxes that are not dropped, or -1 and an error. */
gint box_list_filter (BoxList *self, GArray *boxes, gint width, gint height, GError **error);

G_END_DECLS
