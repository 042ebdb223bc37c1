"""How Sphinx builds the documentation: Markdown pages, every page in this folder, warnings are errors.

Pages of `learn/` and `use/` that begin with the header of a notebook are executed at the build. So are the scripts in
`learn/`, which tests/showing/notebooks.py turns into notebooks.
"""

import hashlib
import re
import sys
from importlib.metadata import version as installed
from pathlib import Path

HERE = Path(__file__).parent
sys.path += [str(HERE / "_extensions"), str(HERE.parent / "tests")]

project = "retrograd"
author = "The retrograd developers"
version = release = installed("retrograd")

extensions = ["myst_nb", "sphinx_copybutton", "sphinx_design",
              "reference", "coverage_table", "landing", "messages", "navigation"]
exclude_patterns = ["conf.py", "_build", "_extensions", "**.ipynb_checkpoints", "jupyter_execute"]

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

nb_custom_formats = {".py": "showing.notebooks.as_notebook"}

# A notebook runs once for each state of the package; its results are kept between builds.
_SOURCE = hashlib.sha256(b"".join(
    path.read_bytes() for path in sorted((HERE.parent / "src").rglob("*.py")))).hexdigest()[:12]
# What the entries of the reference are made from, beside the package.
_MAKERS = [HERE / "differences.md", *sorted((HERE / "_extensions" / "reference").glob("*.*"))]
reference_of = _SOURCE + hashlib.sha256(b"".join(path.read_bytes() for path in _MAKERS)).hexdigest()[:12]
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / f"executed-{_SOURCE}")
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 60
nb_kernel_rgx_aliases = {".*": "python3"}
nb_merge_streams = True

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"
copybutton_selector = ":not(.output) > div > div.highlight > pre"

html_theme = "furo"
html_title = "retrograd"
html_static_path = ["_static"]
html_css_files = ["retrograd.css"]
html_js_files = [("pages.js", {"defer": "defer"})]
html_show_sourcelink = False
html_use_index = False
toc_object_entries = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-code-background": "#f4f5f7"},
    "dark_css_variables": {"color-code-background": "#1e2024"},
    "navigation_with_keys": False,
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def _scripts_to_download(app, docname, content):
    """Links to scripts outside of this folder lead to copies of the scripts, not to pages."""
    content[0] = re.sub(r"(?<=\]\()(?=\.\./[\w./]+\.py\))", "path:", content[0])


def _language(app, pagename, templatename, context, doctree):
    """Screen readers are told the language of the pages in Korean."""
    if pagename.startswith("ko/"):
        context["language"] = "ko"


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", _scripts_to_download)
    app.connect("html-page-context", _language)
