#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cut-growth RELEASED DUMP: removes allowed additions from DUMP, in place.

Both are interfaces written by abidw. A struct that begins with its size may have new fields behind
its released end: removes these, and restores the released size. An enum may have new constants:
removes these too. Everything else is left to abidiff, whose own suppression of fields at the end
hides exchanged fields too (version 2.2).
"""
import sys
from xml.etree import ElementTree


def named(root, tag):
    """Returns name -> elements of the enums, or of the structs that begin with a field `size`."""
    found = {}
    for element in root.iter(tag):
        first = element.find("data-member/var-decl")
        if tag == "enum-decl" or first is not None and first.get("name") == "size":
            found.setdefault(element.get("name"), []).append(element)
    return found


def cut_enum(enum, released):
    """Removes the constants whose names the released enum lacks."""
    known = {constant.get("name") for constant in released.iter("enumerator")}
    for constant in enum.findall("enumerator"):
        if constant.get("name") not in known:
            print("new: " + constant.get("name"))
            enum.remove(constant)


def cut_struct(struct, released):
    """Removes the fields behind the released struct's end if the struct is larger."""
    bits = int(released.get("size-in-bits"))
    if int(struct.get("size-in-bits")) <= bits:
        return
    for field in struct.findall("data-member"):
        if int(field.get("layout-offset-in-bits")) >= bits:
            print("new: %s.%s" % (struct.get("name"), field.find("var-decl").get("name")))
            struct.remove(field)
    struct.set("size-in-bits", str(bits))


def main():
    released, dump = sys.argv[1:]
    root, tree = ElementTree.parse(released).getroot(), ElementTree.parse(dump)
    for tag, cut in (("class-decl", cut_struct), ("enum-decl", cut_enum)):
        before = named(root, tag)
        for name, elements in named(tree.getroot(), tag).items():
            for element in elements if name in before else ():
                cut(element, before[name][0])
    tree.write(dump)


if __name__ == "__main__":
    main()
