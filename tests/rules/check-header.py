#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-header LANGUAGE STANDARD FOLDER COMPILER...: a small
program that includes only the public headers, twice, compiles with -pedantic and
without a warning. C89 and C++98 may have long long, which <stdint.h> needs."""
import subprocess
import sys

PROGRAM = """
#include <nmsgraph.h>
#include <nmsstablehlo.h>
#include <nmsxla.h>
#include <nmslazy.h>
#include <nmscore.h>
#include <nmsgraph.h>
#include <nmsxla.h>
#include <nmslazy.h>
#include <nmscore.h>

#define NAME(name, value, text) text,
static const char *const texts[] = { NMS_ERROR_LIST (NAME) };

int main (void)
{
  nms_context *context = nms_context_new ();
  nms_options options;
  nms_result result;
  nms_boxes boxes;

  nms_options_init (&options, sizeof options);
  options.engine = NMS_ENGINE_SORTED;
  options.outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY;
  boxes.size = sizeof boxes;
  boxes.count = 0;
  result.size = sizeof result;
  if (nms_run (context, &boxes, &options, &result) != NMS_OK)
    return texts[0][0];
  nms_context_free (&context);
  return result.kept_count > NMS_MAX_BOXES ? NMS_VERSION_NUMBER : NMS_OUTCOME_KEPT;
}
"""


def main():
    language, standard, folder = sys.argv[1:4]
    command = sys.argv[4:] + ["-x", language, "-std=" + standard, "-pedantic", "-Wall", "-Wextra",
                              "-Werror", "-Wno-long-long", "-fsyntax-only", "-I", folder,
                              "-I", folder + "/../accel/lazy", "-I", folder + "/../accel/stablehlo",
                              "-I", folder + "/../accel/xla", "-"]
    done = subprocess.run(command, input=PROGRAM, text=True)
    print(" ".join(command), "->", done.returncode)
    # checks that a warning is detected
    broken = subprocess.run(command, input=PROGRAM + "int unused (void) { int x; return 0; }\n",
                            text=True, stderr=subprocess.DEVNULL)
    if broken.returncode == 0:
        sys.exit("a program with a warning passed")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
