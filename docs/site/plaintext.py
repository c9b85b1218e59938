# SPDX-License-Identifier: LGPL-2.1-or-later
"""Converts the plain text of comments and docstrings to reStructuredText.

The sources are written to be read as plain text: paragraphs, rows of a term, two or more blanks
and its description, lists with `-`, underlined headings, and code indented by 4 blanks.
"""
import re
import textwrap

ROW = re.compile(r"(\S+(?: \S+)*?)  +(\S.*)")
CODE_INDENT = 4


def indent_of(line):
    return len(line) - len(line.lstrip())


def escape(text):
    """Escapes what is markup in reStructuredText, but for `code` and *emphasis*."""
    parts = re.split(r"(`[^`]+`|\*\w+\*)", text)
    for i, part in enumerate(parts):
        if i % 2:
            parts[i] = "`%s`" % part if part[0] == "`" else part
        else:
            parts[i] = re.sub(r"([\\*_|`])", r"\\\1", part)
    return "".join(parts)


def literal(lines):
    text = textwrap.indent(textwrap.dedent("\n".join(lines)), "    ")
    return ["::", "", *text.split("\n"), ""]


def rows_of(lines):
    """Returns the pairs of term and lines of description, None if the lines are no such rows."""
    rows = []
    for line in lines:
        match = ROW.fullmatch(line.strip())
        if indent_of(line) > indent_of(lines[0]):
            if not rows:
                return None
            rows[-1][1].append(line)
        elif match:
            rows.append((match[1], [match[2]]))
        else:
            return None
    return rows


def definitions(rows):
    out = []
    for term, (first, *rest) in rows:
        body = [first] + textwrap.dedent("\n".join(rest)).split("\n") if rest else [first]
        out += [escape(term), *textwrap.indent(to_rst("\n".join(body)), "    ").split("\n"), ""]
    return out


def block(lines):
    """Converts lines without a blank line or heading between them."""
    rows = rows_of(lines)
    if indent_of(lines[0]) >= CODE_INDENT:
        return literal(lines)
    if lines[0].lstrip().startswith("- "):
        return textwrap.dedent("\n".join(map(escape, lines))).split("\n") + [""]
    if rows:
        return definitions(rows)
    if indent_of(lines[0]):
        return literal(lines)
    # the paragraph, and the indented lines directly behind it
    end = next((i for i, line in enumerate(lines) if indent_of(line)), len(lines))
    text = [escape(line) for line in lines[:end]] + [""]
    inner = next((i for i in range(end, len(lines)) if not indent_of(lines[i])), len(lines))
    for part in (lines[end:inner], lines[inner:]):
        text += block(part) if part else []
    return text


def to_rst(text):
    """Returns the text, whose lines have no common indent, as reStructuredText."""
    out, lines = [], []

    def end_block():
        if lines:
            out.extend(block(lines))
        lines.clear()

    for line in text.split("\n"):
        if re.fullmatch(r"-{3,}", line) and lines:
            heading = lines.pop()
            end_block()
            out.extend([".. rubric:: " + escape(heading), ""])
        elif line.strip():
            lines.append(line.rstrip())
        else:
            end_block()
    end_block()
    return "\n".join(out)
