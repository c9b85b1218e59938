#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# preload: runs a test with the library NMS_TEST_PRELOAD in it (meson's
# --wrapper takes a program, no environment).
LD_PRELOAD="$NMS_TEST_PRELOAD${LD_PRELOAD:+:$LD_PRELOAD}" exec "$@"
