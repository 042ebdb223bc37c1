"""One navigation for all pages of a folder that are in no list of contents: pages of classes, and of source code.

Sphinx makes the navigation of each page anew, which takes a fourth of a build. It differs between two such pages only
if their folders differ, by the relative links.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sphinx.application import Sphinx

Made = dict[tuple[str, str], str]                          # by the folder and the options


def setup(app: Sphinx) -> dict[str, bool]:
    made: Made = {}
    app.connect("html-page-context", partial(_share, made), priority=400)      # before the theme asks
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _share(made: Made, app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Let a page that no list of contents has take the navigation of its folder."""
    lists = app.env.toctree_includes
    make = context.get("toctree")
    if make is None or pagename in lists or any(pagename in pages for pages in lists.values()):
        return

    def toctree(**options: Any) -> str:
        key = pagename.rpartition("/")[0], repr(sorted(options.items()))
        if key not in made:
            made[key] = make(**options)
        return made[key]

    context["toctree"] = toctree
