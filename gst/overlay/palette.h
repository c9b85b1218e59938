/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* palette: the colours of classes and tracks, as 0xRRGGBB. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The colour of boxes that a filter tagged as dropped. */
#define PALETTE_GREY 0xb4b4b4

/* Returns a bright colour that depends only on the bytes of the text: it is the
 * same in every run and on every machine. Different texts may get the same colour. */
guint32 palette_color (const gchar *text);

/* Returns black or white, whichever has more contrast to this background. */
guint32 palette_text_color (guint32 background);

G_END_DECLS
