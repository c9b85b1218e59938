#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cut-growth RECORDED DUMP: removes allowed additions from DUMP, in place.

Both are interfaces written by abidw. A struct that begins with its size may have new fields behind
its recorded end: removes these, and restores the recorded size. An enum may have new constants:
removes these too. Everything else is left to abidiff, whose own suppression of fields at the end
hides exchanged fields too (version 2.2).
"""
import sys
from xml.etree import ElementTree


def structs(root):
    """Returns name -> elements of the defined structs that begin with a field `size`."""
    found = {}
    for struct in root.iter("class-decl"):
        first = struct.find("data-member/var-decl")
        if first is not None and first.get("name") == "size":
            found.setdefault(struct.get("name"), []).append(struct)
    return found


def enums(root):
    """Returns name -> elements of the enums."""
    found = {}
    for enum in root.iter("enum-decl"):
        found.setdefault(enum.get("name"), []).append(enum)
    return found


def cut_enum(enum, recorded):
    """Removes the constants whose names the recorded enum lacks."""
    known = {constant.get("name") for constant in recorded.iter("enumerator")}
    for constant in enum.findall("enumerator"):
        if constant.get("name") not in known:
            print("new: " + constant.get("name"))
            enum.remove(constant)


def cut_struct(struct, recorded):
    """Removes the fields behind the recorded struct's end if the struct is larger."""
    bits = int(recorded.get("size-in-bits"))
    if int(struct.get("size-in-bits")) <= bits:
        return
    for field in struct.findall("data-member"):
        if int(field.get("layout-offset-in-bits")) >= bits:
            print("new: %s.%s" % (struct.get("name"), field.find("var-decl").get("name")))
            struct.remove(field)
    struct.set("size-in-bits", str(bits))


def cut(before, after, cut_one):
    for name in before.keys() & after.keys():
        for element in after[name]:
            cut_one(element, before[name][0])


def main():
    recorded, dump = sys.argv[1:]
    before = ElementTree.parse(recorded).getroot()
    tree = ElementTree.parse(dump)
    cut(structs(before), structs(tree.getroot()), cut_struct)
    cut(enums(before), enums(tree.getroot()), cut_enum)
    tree.write(dump)


if __name__ == "__main__":
    main()
