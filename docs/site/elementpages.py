#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""elementpages SOURCES FOLDER: writes a page of reference for each element of the plugin nms.

The text is that of the SECTION blocks in SOURCES (gst/). Properties, signals and pads are those
that gst-inspect-1.0 prints; it finds the plugin by GST_PLUGIN_PATH.
"""
import glob
import os
import re
import subprocess
import sys

SECTION = re.compile(r"/\*\*\n \* SECTION:element-(\w+)\n(.*?)\n \*/", re.S)
# name, description, and the lines of flags, type and values
PROPERTY = re.compile(r"^ {2,6}([a-z-]+) +: (.*)\n((?: {20,}.*\n)+)", re.M)
ANY_STATE = "changeable in NULL, READY, PAUSED or PLAYING state"


def inspect(name):
    return subprocess.run(["gst-inspect-1.0", name], stdout=subprocess.PIPE, encoding="utf-8",
                          check=True, env={**os.environ, "GST_INSPECT_NO_COLORS": "1"}).stdout


def sections(folder):
    """Returns the text of each SECTION block by the name of the element."""
    found = {}
    for name in sorted(glob.glob(folder + "/*/*.c")):
        with open(name, encoding="utf-8") as file:
            for element, text in SECTION.findall(file.read()):
                found[element] = re.sub(r"^ \* ?", "", text, flags=re.M)
    return found


def markdown(text):
    """Converts gtk-doc's markup, which is Markdown but for links and code."""
    text = re.sub(r"^@\w+:.*\n", "", text, flags=re.M)
    text = re.sub(r"^\|\[\n(.*?)^\]\|$", r"\n```sh\n\1```\n", text, flags=re.S | re.M)
    text = re.sub(r"#\w+:{1,2}([a-z-]+)", r"[`\1`](#\1)", text)
    text = re.sub(r"[#%](GST\w+|Gst\w+)", r"`\1`", text)
    return text.replace("docs/recording.md", "[recordings](/docs/recording.md)").strip()


def escape(text):
    return re.sub(r"([\\<>*_`|\[\]#])", r"\\\1", text)


def facts(lines):
    """Returns the type, range, default and states of a property as one line, and its values."""
    flags, kind, *values = (line.strip() for line in lines.splitlines())
    kind = re.sub(r"\s+Default:", ". Default:", kind).replace("..", ".")
    states = re.search(r"changeable .*", flags)
    if "writable" not in flags:
        states = "Read only"
    elif states and states[0] != ANY_STATE:
        states = "Can be set in the state " + states[0].split(" in ")[1].replace(" state", "")
    else:
        states = "Can be set in any state"
    choices = (re.fullmatch(r"\(\w+\): (\S+) +- (.*)", value) for value in values)
    return ("%s. %s." % (escape(kind), states),
            ["- `%s`: %s" % (choice[1], escape(choice[2])) for choice in choices if choice])


def properties(text):
    for name, description, lines in PROPERTY.findall(text):
        if name not in ("name", "parent"):
            line, values = facts(lines)
            yield from ["### `%s`" % name, "", escape(description), "", line, "", *values, ""]


def page(name, text):
    inspected = inspect(name)
    pads, own = inspected.split("Element Properties:")
    pads = pads.split("Pad Templates:\n")[1].split("\nElement has")[0]
    own, _, signals = own.partition("Element Signals:\n")
    out = ["# %s" % name, "", markdown(text), "", "## Properties", "", *properties(own)]
    if signals:
        out += ["## Signals", "", *("### `%s`\n" % signal for signal in
                                    re.findall(r'"([a-z-]+)" *:', signals)),
                "```text", signals.rstrip(), "```", ""]
    templates = re.sub(r"^ +Pad Properties:\n(?: {6,}.*\n)*", "", pads, flags=re.M)
    out += ["## Pads", "", "```text", templates.rstrip(), "```", ""]
    request = [part for part in pads.split(" template: ") if "On request" in part]
    of_pads = [line for part in request for line in properties(part)]
    out += ["## Properties of pads on request", "", *of_pads] if of_pads else []
    return "\n".join(out)


def main():
    source, folder = sys.argv[1:]
    texts = sections(source)
    names = set(re.findall(r"^  (\w+): ", inspect("nms"), re.M))
    if names != set(texts):
        sys.exit("elementpages: an element or its SECTION block is missing: "
                 + " ".join(sorted(names ^ set(texts))))
    os.makedirs(folder, exist_ok=True)
    for name in sorted(names):
        with open("%s/%s.md" % (folder, name), "w", encoding="utf-8") as file:
            file.write(page(name, texts[name]))


if __name__ == "__main__":
    main()
