/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* enumtype: defines the type of a property's enumeration together with its names. */
#pragma once

#include <glib-object.h>

/* Defines `function`, which registers the type on its first call. `values` is a static array of
 * GEnumValue with an empty last element. The numbers must not change, because applications store
 * them. */
#define DEFINE_ENUM_TYPE_OF(function, name, values) \
  static GType function (void) \
  { \
    static gsize type = 0; \
    if (g_once_init_enter (&type)) \
      g_once_init_leave (&type, g_enum_register_static (name, values)); \
    return (GType) type; \
  }

/* Does what DEFINE_ENUM_TYPE_OF does, with values { number, description, nick } as arguments. */
#define DEFINE_ENUM_TYPE(function, name, ...) \
  static const GEnumValue function##_values[] = { __VA_ARGS__, { 0, NULL, NULL } }; \
  DEFINE_ENUM_TYPE_OF (function, name, function##_values)
