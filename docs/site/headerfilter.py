#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""headerfilter FILE: prints a public header with its comments as Doxygen and Breathe read them.

A comment documents what follows it or, behind code, what stands before it on its line. A comment
before several functions, or behind several names, documents each of them. An enum that a list
NMS_..._LIST makes has the comments of the rows of the list, which must stand before it.
"""
import re
import sys
import textwrap

from plaintext import to_rst

COMMENT = re.compile(r"^(?P<code>[^\n]*?)/\*(?P<text>.*?)\*/", re.S | re.M)
NAMES = re.compile(r"(\s*(?:\w+ )*)(\w+(?:, \w+)+)([,;])\s*")
# lines between blank lines that begin with a comment and declare functions
FUNCTIONS = re.compile(r"^(/\*\*(?:(?!\*/).)*\*/\n)((?:NMS_API [^;]*;\n){2,})", re.S | re.M)
# a list macro and its rows, and the enum that NMS__ENUM makes of it
LIST = re.compile(r"^#define (NMS_(\w+)_LIST)\(X\) \\\n(?:.*\\\n)*.*\n", re.M)
ROW = re.compile(r"  /\*(?P<text>.*?)\*/ \\\n  X \((?P<name>\w+), (?P<number>-?\d+)", re.S)
PRIVATE = re.compile(r"^#(?:define|undef) NMS__(?:.*\\\n)*.*\n", re.M)


def expand_lists(text):
    """Writes the members of the enums instead of the macros, and no comment inside of a macro."""
    for found in list(LIST.finditer(text)):
        members = "".join("\n/*%s*/\nNMS_%s_%s = %s,"
                          % (row["text"].replace(" \\\n", "\n"), found[2], row["name"],
                             row["number"]) for row in ROW.finditer(found[0]))
        if members:
            text = re.sub(r"%s \(NMS__ENUM\) NMS__\w+ = \w+" % found[1], lambda _: members, text)
            text = PRIVATE.sub("", text)
            text = text.replace(found[0], re.sub(r"  /\*.*?\*/ \\\n", "", found[0], flags=re.S))
    return text


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
    text = expand_lists(file.read())
    text = re.sub(r" +\\$", r" \\", text, flags=re.M)  # Breathe prints the blanks
    print(FUNCTIONS.sub(repeated, COMMENT.sub(documented, text)))
