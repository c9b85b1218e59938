#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""headerfilter FILE: prints a public header with its comments as Doxygen and Breathe read them.

A comment documents what follows it or, behind code, what stands before it on its line. A comment
before several functions, or behind several names, documents each of them.
"""
import re
import sys
import textwrap

from plaintext import to_rst

COMMENT = re.compile(r"^(?P<code>[^\n]*?)/\*(?P<text>.*?)\*/", re.S | re.M)
NAMES = re.compile(r"(\s*(?:\w+ )*)(\w+(?:, \w+)+)([,;])\s*")
# lines between blank lines that begin with a comment and declare functions
FUNCTIONS = re.compile(r"^(/\*\*(?:(?!\*/).)*\*/\n)((?:NMS_API [^;]*;\n){2,})", re.S | re.M)


def plain(comment):
    """Returns the text without the asterisks at the beginning of its lines."""
    first, *rest = comment.split("\n")
    rest = [re.sub(r"^ *\* ?", "", line) for line in rest]
    return "\n".join([first.strip(), textwrap.dedent("\n".join(rest))]).strip("\n").rstrip()


def documented(match):
    text = plain(match["text"])
    if text.startswith(("SPDX-", "-----")) or match["code"].lstrip().startswith("#"):
        return match[0]
    name = re.match(r"(\w+): ", text)
    # only the comment that describes the header begins with its name
    header = "@file\n" if name and sys.argv[1].endswith("/%s.h" % name[1]) else ""
    comment = "%s\n@verbatim embed:rst\n%s\n@endverbatim */" % (header, to_rst(text))
    code = match["code"]
    names = NAMES.fullmatch(code)
    if names:  # several enumerators or fields, each of which the comment describes
        return "".join("%s%s%s /**< %s\n" % (names[1], name, names[3], comment)
                       for name in names[2].split(", "))
    return code + ("/**< " if code.strip() else "/** ") + comment


def repeated(match):
    return "".join(match[1] + function for function in re.findall(r"NMS_API [^;]*;\n", match[2]))


with open(sys.argv[1], encoding="utf-8") as file:
    text = re.sub(r" +\\$", r" \\", file.read(), flags=re.M)  # Breathe prints the blanks
    print(FUNCTIONS.sub(repeated, COMMENT.sub(documented, text)))
