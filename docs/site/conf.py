# SPDX-License-Identifier: LGPL-2.1-or-later
# Sphinx's settings. build.sh makes the folder of sources, with links to those of the repository.
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
from plaintext import to_rst  # noqa: E402

project = "gst-nms"
with open(os.path.join(os.environ["NMS_ROOT"], "meson.build"), encoding="utf-8") as meson:
    version = release = re.search(r"version: '([^']+)'", meson.read())[1]
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "pipelines/**.md", "tests/bench/README.md",
                    "reference/**"]
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = "gst-nms " + release
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
# shows 100 columns of code
html_theme_options = {"light_css_variables": {"code-font-size": "72%"}}
highlight_language = "none"  # for blocks that name no language

myst_heading_anchors = 4

breathe_projects = {"nmscore": os.environ["NMS_DOXYGEN"]}
breathe_default_project = "nmscore"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
breathe_show_define_initializer = True

autodoc_mock_imports = ["jax", "jaxlib", "torch", "nmscore._jaxprimitive"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"

# The toctree of the front page, which is README.md. Files in the repository have no markup of
# Sphinx, so that they read well everywhere.
with open(os.path.join(os.path.dirname(__file__), "contents.md"), encoding="utf-8") as file:
    CONTENTS = file.read()
ELEMENTS = sorted(os.path.basename(path)[3:-2]
                  for path in glob.glob(os.environ["NMS_ROOT"] + "/gst/*/gst*.c"))
CONTENTS = CONTENTS.replace("@ELEMENTS@", "\n".join(f"{e} <docs/{e}>" for e in ELEMENTS))


def add_contents(app, name, source):
    if name == root_doc:
        source[0] += "\n" + CONTENTS


def convert_docstring(app, what, name, obj, options, lines):
    lines[:] = to_rst("\n".join(lines)).split("\n")


def skip_fields(app, what, name, obj, skip, options):
    """Leaves out the fields of tuples, which the docstring of the tuple describes."""
    return True if (obj.__doc__ or "").startswith("Alias for field number") else None


def setup(app):
    app.connect("source-read", add_contents)
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("autodoc-process-docstring", convert_docstring)
