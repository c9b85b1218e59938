#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# preload: runs a test in the locale NMS_TEST_LC_ALL, with the library
# NMS_TEST_PRELOAD in it (meson's --wrapper takes a program, no environment).
# Numbers are what this is about: messages stay in English.
exec env LANGUAGE=C LOCPATH="$NMS_TEST_LOCPATH" LC_ALL="$NMS_TEST_LC_ALL" \
  LD_PRELOAD="$NMS_TEST_PRELOAD${LD_PRELOAD:+:$LD_PRELOAD}" "$@"
