/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* startrace: sets the property location of an element while another thread starts it. */
#pragma once

#include <gst/gst.h>

/* Starts the element again and again with files that do not exist, while a thread sets its
 * location. Fails unless each error names one of the two locations, complete. The address
 * sanitizer finds a location that is read after it was freed. */
void start_race (const gchar *factory);
