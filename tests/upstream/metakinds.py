# SPDX-License-Identifier: LGPL-2.1-or-later
"""metakinds: the kinds of metadata as which the plugin that is found can attach boxes."""
import re
import subprocess


def kinds():
    """Returns the values of boxreplay's property meta to test, with the titles of columns."""
    told = subprocess.run(["gst-inspect-1.0", "boxreplay"], text=True, capture_output=True).stdout
    names = {"roi": "region"}
    if re.search(r"\banalytics +-", told):
        names["analytics"] = "OD"
    return names
