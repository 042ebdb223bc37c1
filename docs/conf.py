"""How Sphinx builds the documentation: Markdown pages, every page in this folder, warnings are errors."""

from importlib.metadata import version as installed

project = "retrograd"
author = "The retrograd developers"
version = release = installed("retrograd")

extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_title = "retrograd"
