/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* palette: the colour of a class or a track, 0xRRGGBB. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a box that was dropped, and only tagged, is drawn in. */
#define PALETTE_GREY 0xb4b4b4

/* A bright colour that depends on the bytes of the text alone: the same in
 * every run, on every machine. Different texts may share one. */
guint32 palette_color (const gchar * text);

/* Black or white, whichever is easier to read on this background. */
guint32 palette_text_color (guint32 background);

G_END_DECLS
