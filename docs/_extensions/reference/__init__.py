"""The reference: a directive whose content is the entries of a namespace, made from the package itself.

    ```{reference} torch elementwise
    ```

The first word is a namespace, the second one a family of the namespace, if it has families.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from reference import differences, sources, statements
from reference.entries import Writer, operators_of
from reference.namespaces import FAMILIES, NAMESPACES, PACKAGE, Member, family, members


def home(member: Member) -> str:
    """The module of a function, or of the first operator that it calls if it is one of the recorded calls."""
    plain = statements.plain(member.found)
    module: str = getattr(plain, "__globals__", {}).get("__name__", "")
    if not module.startswith("retrograd.tensors.recording"):
        return module
    places = [place for op in operators_of(member.found) if (place := statements.statement(op))]
    return places[0].path.removesuffix(".py").replace("/", ".") if places else module


def chosen(path: str, part: str = "") -> list[Member]:
    """The members of a namespace, or of one of its families. A submodule is named on the page of its own."""
    found = [member for member in members(path) if member.kind != "module"]
    return [member for member in found if family(member, home(member)) == part] if part else found


class Reference(SphinxDirective):
    """The entries of a namespace."""

    required_arguments = 1
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        path, part = self.arguments[0], self.arguments[1] if len(self.arguments) > 1 else ""
        if path not in NAMESPACES or (part and part not in FAMILIES):
            raise self.error(f"no namespace {path!r} with a family {part!r}")
        for file in (differences.PAGE, *PACKAGE.rglob("*.py"), *Path(__file__).parent.glob("*.py")):
            self.env.note_dependency(file)
        write = Writer(self.env)
        found = chosen(path, part)
        return [write.contents(found), *map(write.entry, found)]


def _before_reading(app: Sphinx, env: BuildEnvironment, pages: list[str]) -> None:
    """Forget the entries of all pages that are read again, since an entry may move from one of them to another."""
    for page in pages:
        env.domains["py"].clear_doc(page)


def _after_reading(app: Sphinx, document: nodes.document) -> None:
    if app.env.docname == "differences":
        differences.add_anchors(document)


def _after_building(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        sources.write(Path(app.outdir))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("reference", Reference)
    app.connect("env-before-read-docs", _before_reading)
    app.connect("doctree-read", _after_reading)
    app.connect("build-finished", _after_building)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
