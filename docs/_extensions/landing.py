"""What the landing page shows and nobody types: four figures that other pages hold, and a program in the explorer.

    ```{figures}
    ```

    ```{explored}
    ```

`{figures}` reads the tables that `make figures`, `make suites` and the page on deployment hold. `{explored}` runs the
first program of its page under `retrograd explore`, and shows the page of the pass in a frame.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from showing import pages

ROOT = pages.ROOT
README, DEPLOYMENT = ROOT / "README.md", ROOT / "docs" / "use" / "deployment.md"
PACKAGES = ROOT / "docs" / "packages.md"
SMALL_STEP = "a training step of a two-layer network, batches of 16"


class Figure(NamedTuple):
    """A figure in large letters, the words of each language below it, and the page that it is from."""

    value: str
    words: dict[str, str]
    page: str


def rows(file: Path, title: str) -> list[list[str]]:
    """The rows of the table whose head begins with these titles."""
    lines = pages.text_of(file).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(title))
    body = []
    for line in lines[start + 2:]:
        if not line.startswith("|"):
            break
        body.append([cell.strip() for cell in line.strip("|").split("|")])
    return body


def figures() -> list[Figure]:
    """The four figures: size, a small step, a compiled step, tests of other packages."""
    sizes = {name: size for name, size, _ in rows(DEPLOYMENT, "| | size |")}
    ratios = dict(rows(README, "| workload | retrograd / PyTorch |"))
    compiled = [float(best) for _, _, best in rows(README, "| step | NumPy / best |")]
    suites = rows(PACKAGES, "| package | version | tests |")
    passed = sum(int(row[3]) for row in suites)
    missed = sum(int(row[5]) for row in suites if row[5] != "none")
    return [
        Figure(sizes["both, installed"], {
            "en": f"on disk, with NumPy. PyTorch for CPUs takes {sizes['PyTorch for CPUs, installed']}.",
            "ko": f"NumPy까지 포함한 설치 크기. CPU용 PyTorch는 {sizes['PyTorch for CPUs, installed']}입니다.",
        }, "use/deployment"),
        Figure(f"{ratios[SMALL_STEP]} ×", {
            "en": "PyTorch's time for a training step of a small network.",
            "ko": "작은 신경망을 한 단계 학습하는 시간. PyTorch가 1입니다.",
        }, "performance"),
        Figure(f"{statistics.median(compiled):.2f} ×", {
            "en": f"the time of PyTorch's compiler or JAX, the faster one: the median of {len(compiled)} steps.",
            "ko": f"컴파일한 단계 {len(compiled)}가지의 중앙값. PyTorch 컴파일러와 JAX 중 빠른 쪽이 1입니다.",
        }, "performance"),
        Figure(f"{passed - missed:,}", {
            "en": f"of the {passed:,} tests that PyTorch passes, from {len(suites)} packages.",
            "ko": f"패키지 {len(suites)}개에서 PyTorch가 통과하는 테스트 {passed:,}개 중 통과한 수.",
        }, "packages"),
    ]


class Figures(SphinxDirective):
    """The four figures side by side. Each leads to the page that has all figures of its kind."""

    option_spec: ClassVar[dict[str, Any]] = {"language": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        for file in (README, DEPLOYMENT, PACKAGES, Path(__file__)):
            self.env.note_dependency(file)
        language = self.options.get("language", "en")
        up = "../" * self.env.docname.count("/")
        cards = [f'<a class="figure" href="{up}{each.page}.html"><strong>{escape(each.value)}</strong> '
                 f'<span>{escape(each.words[language])}</span></a>' for each in figures()]
        return [nodes.raw("", f'<div class="figures">{"".join(cards)}</div>', format="html")]


@cache
def explorer(source: str) -> str:
    """The explorer's page of the first backward pass of a program."""
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, pages.FILE).write_text(source, encoding="utf-8")
        subprocess.run([sys.executable, "-m", "retrograd", "explore", "-o", "page.html", pages.FILE], cwd=folder,
                       env={**os.environ, "PYTHONPATH": path}, capture_output=True, check=True, timeout=120)
        return Path(folder, "page.html").read_text(encoding="utf-8")


class Explored(SphinxDirective):
    """The first program of this page in the explorer."""

    option_spec: ClassVar[dict[str, Any]] = {"title": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        for file in sorted((ROOT / "src" / "retrograd" / "viz").rglob("*.*")):
            self.env.note_dependency(file)
        name = self.env.docname
        first = next(pages.programs(name, pages.text_of(Path(self.env.doc2path(name)))))
        page = explorer(first.blocks[0].source)
        frame = (f'<iframe srcdoc="{escape(page)}" title="{escape(self.options["title"])}" class="page-in-page" '
                 'loading="lazy"></iframe>')
        return [nodes.raw("", frame, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("figures", Figures)
    app.add_directive("explored", Explored)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
