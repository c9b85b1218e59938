#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-links ROOT: every link of a Markdown file to a file of the project leads to one.

A link with an anchor leads to a heading of that file. Every element has a page docs/ELEMENT.md.
docs/README.md lists each page of docs/, and docs/site/contents.md these and those of the root, but
for the pages of elements, which docs/site/conf.py adds.
Links to other sites are checked by docs/site/build.sh.
"""
import os
import re
import sys

from projectfiles import finish, project_files, read

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
ELEMENT = re.compile(r"^ \* SECTION:element-(\w+)$", re.M)


def text_of(root, name):
    """Returns the text without code, in which brackets are no links."""
    text = re.sub(r"^```.*?^```", "", read(root, name), flags=re.S | re.M)
    return re.sub(r"`[^`]*`", lambda code: code[0].strip("`") if "](" not in code[0] else "", text)


def anchors_of(text):
    """Returns the anchors of headings as forges make them."""
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def link_problems(root, name, files):
    for link in LINK.findall(text_of(root, name)):
        path, _, anchor = link.partition("#")
        if re.match(r"\w+:", link):
            continue
        target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
        if target not in files and not any(file.startswith(target + "/") for file in files):
            yield "%s: no file %s" % (name, link)
        elif anchor and anchor not in anchors_of(text_of(root, target)):
            yield "%s: no heading %s" % (name, link)


def page_problems(root, files):
    listed = read(root, "docs/README.md") + "(README.md)"
    contents = read(root, "docs/site/contents.md") + "\nREADME\n"
    elements = [found for name in files if re.match(r"gst/.*/gst\w+\.c$", name)
                for found in ELEMENT.findall(read(root, name))]
    for element in elements:
        contents += "docs/%s\n" % element
        if "docs/%s.md" % element not in files:
            yield "docs/%s.md: missing, the page of an element" % element
    for name in files:
        if re.match(r"docs/[^/]*\.md$", name) and "(%s)" % name[5:] not in listed:
            yield "docs/README.md: does not list " + name
        if re.match(r"(docs/)?[^/]*\.md$", name) and not re.search(
                r"[\n<]%s[\n>]" % name[:-3], contents):
            yield "docs/site/contents.md: does not list " + name


def main():
    root = sys.argv[1]
    files = set(project_files(root))
    pages = sorted(name for name in files if name.endswith(".md"))
    problems = [problem for name in pages for problem in link_problems(root, name, files)]
    finish(problems + sorted(page_problems(root, files)), len(pages))


if __name__ == "__main__":
    main()
