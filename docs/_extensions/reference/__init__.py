"""The reference: directives whose content is made from the package itself.

    ```{reference} torch elementwise
    ```

This lists the names of a namespace, each with one line, and then shows the entries of the functions. The first word is
a namespace, the second one a family of the namespace, if it has families. Classes have pages of their own:

    ```{class-entry} torch.nn.Linear
    ```
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from reference import classes, differences, sources, statements
from reference.entries import Writer, is_twin, operators_of
from reference.groups import grouped
from reference.namespaces import FAMILIES, NAMESPACES, Member, family, members


def home(member: Member) -> str:
    """The module of a class, or of a function, or of the first operator that a recorded call has."""
    if isinstance(member.found, type):
        return member.found.__module__
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
    """The list of a namespace, and the entries of what has no page of its own."""

    required_arguments = 1
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        path, part = self.arguments[0], self.arguments[1] if len(self.arguments) > 1 else ""
        if path not in NAMESPACES or (part and part not in FAMILIES):
            raise self.error(f"no namespace {path!r} with a family {part!r}")
        write = Writer(self.env)
        return [*self.groups(write, path, part)]

    def groups(self, write: Writer, path: str, part: str) -> Iterator[nodes.Node]:
        """The lists of all groups, and then the entries of all groups."""
        found = [member for member in chosen(path, part) if not is_twin(member)]
        twins = [member for member in chosen(path, part) if is_twin(member)]
        lists = grouped((member, home(member)) for member in found)
        for title, listed in lists.items():
            yield section(path, title, [write.contents(listed)]) if title else write.contents(listed)
        shown = [member for member in [*found, *twins] if member.path not in classes.classes()]
        entries = [*map(write.entry, sorted(shown, key=lambda member: (member.name.lower(), member.name)))]
        if entries and "" not in lists:
            yield section(path, "Each function", entries)
        else:
            yield from entries


def section(path: str, title: str, content: list[nodes.Node]) -> nodes.section:
    """A section of a page. Its anchor has the namespace in it, since a page may show several."""
    anchor = nodes.make_id(f"{path} {title}")
    return nodes.section("", nodes.title("", title), *content, ids=[anchor], names=[anchor])


class Class(SphinxDirective):
    """The entry of one class, on its page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        member = classes.classes()[self.arguments[0]]
        return [Writer(self.env).entry(member)]


def _before_building(app: Sphinx) -> None:
    classes.write(Path(app.srcdir))


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
    app.add_config_value("reference_of", "", "env")     # the state of what the entries are made of
    app.add_directive("reference", Reference)
    app.add_directive("class-entry", Class)
    app.connect("builder-inited", _before_building)
    app.connect("env-before-read-docs", _before_reading)
    app.connect("doctree-read", _after_reading)
    app.connect("build-finished", _after_building)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "2"}
