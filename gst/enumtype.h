/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* enumtype: defines the type of a property's enumeration or flags together with its names. */
#pragma once

#include <glib-object.h>

/* Defines `function`, which registers the type on its first call. The arguments after
 * `name` are values { number, description, nick }. The numbers must not change, because
 * applications store them. */
#define DEFINE_ENUM_TYPE(function, name, ...) \
  static GType function (void) \
  { \
    static const GEnumValue values[] = { __VA_ARGS__, { 0, NULL, NULL } }; \
    static gsize type = 0; \
    if (g_once_init_enter (&type)) \
      g_once_init_leave (&type, g_enum_register_static (name, values)); \
    return (GType) type; \
  }

/* Defines `function` for flags, as DEFINE_ENUM_TYPE does for an enumeration. */
#define DEFINE_FLAGS_TYPE(function, name, ...) \
  static GType function (void) \
  { \
    static const GFlagsValue values[] = { __VA_ARGS__, { 0, NULL, NULL } }; \
    static gsize type = 0; \
    if (g_once_init_enter (&type)) \
      g_once_init_leave (&type, g_flags_register_static (name, values)); \
    return (GType) type; \
  }
