"""The entry of one public name: signatures, text, derivative rules, what differs from PyTorch, a link to the source."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

from reference import differences, docstrings, examples, signatures, sources, statements
from reference.namespaces import NAMESPACES, Member, first_path, first_paths, kind_of
from retrograd.ops.framework import Op

WHOLE = 60          # the most lines of a statement that a page shows; a longer one is a link
MOST = 4            # the most operators of one function that a page shows
_LOG = logging.getLogger(__name__)


class Writer:
    """Makes the nodes of entries for one page, and notes their names."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.up = "../" * env.docname.count("/")

    def entry(self, member: Member, inside: str = "") -> addnodes.desc:
        """The nodes of an entry. `inside` is the class that a method belongs to, '' for a name of a namespace."""
        entry = addnodes.desc(domain="py", objtype=member.kind, desctype=member.kind, no_index=False,
                              no_contents_entry=bool(inside), classes=["py", member.kind])
        found = signatures.signatures(member) if member.kind not in ("data", "module", "property") else []
        for i, way in enumerate(found or [None]):
            entry += self.signature(member, way, first=not i)
        self.env.domains["py"].note_object(member.path, member.kind, member.path, location=entry)
        entry += addnodes.desc_content("", *self.content(member, inside))
        return entry

    def contents(self, found: list[Member]) -> nodes.bullet_list:
        """Links to the entries of names, each with one line about it."""
        listed = nodes.bullet_list(classes=["names"])
        for member in found:
            line = nodes.paragraph("", "", self.reference(member.path, member.name), nodes.Text(" "))
            line += nodes.inline("", "", *docstrings.words(self.summary(member)), classes=["summary"])
            listed += nodes.list_item("", line)
        return listed

    @staticmethod
    def reference(path: str, text: str) -> addnodes.pending_xref:
        """A link to the entry of a name."""
        return addnodes.pending_xref("", nodes.literal("", text), refdomain="py", reftype="obj", reftarget=path,
                                     refexplicit=True, refwarn=True)

    @staticmethod
    def summary(member: Member) -> str:
        """One line about a name: the first sentence of its text, or the name that it stands for."""
        first = first_path(member.found) or member.path
        if member.kind == "data":
            return instance(member.found) or docstrings.shortened(repr(member.found), 60)
        text = docstrings.first_sentence(inspect.getdoc(member.found) or "")
        return text if first == member.path or text else f"Another name of `{first}`."

    def signature(self, member: Member, way: signatures.Signature | None, first: bool) -> addnodes.desc_signature:
        """One line of the head of an entry."""
        line = addnodes.desc_signature("", "", classes=[])
        if first:
            line["ids"] = [member.path]
        if member.kind in ("class", "exception", "property", "module"):
            line += addnodes.desc_annotation("", "", addnodes.desc_sig_keyword("", member.kind),
                                             addnodes.desc_sig_space())
        line += addnodes.desc_addname("", f"{member.namespace}.")
        line += addnodes.desc_name("", member.name)
        if way is not None:
            line += self.parameters(way)
            if way.result and member.kind != "class":
                line += addnodes.desc_returns("", way.result)
        if first and (uri := sources.place(statements.plain(member.found))):
            line += self.link("[source]", uri, "viewcode-link")
        return line

    @staticmethod
    def parameters(way: signatures.Signature) -> addnodes.desc_parameterlist:
        found = addnodes.desc_parameterlist()
        for each in way.parameters:
            shown = addnodes.desc_parameter()
            shown += addnodes.desc_sig_name("", each.name, classes=["n"])
            if each.kind:
                shown += [addnodes.desc_sig_punctuation("", ":"), addnodes.desc_sig_space(),
                          addnodes.desc_sig_name("", each.kind, classes=["kt"])]
            if each.default is not None:
                shown += nodes.inline("", f" = {each.default}" if each.kind else f"={each.default}",
                                      classes=["default_value"])
            found += shown
        return found

    def link(self, text: str, uri: str, kind: str = "") -> nodes.reference:
        """A link to a page that is beside the pages of the documentation, such as a page of source."""
        return nodes.reference("", "", nodes.inline("", text, classes=[kind] if kind else []), internal=True,
                               refuri=self.up + uri)

    def example(self, member: Member, inside: str) -> Iterator[nodes.Node]:
        """A call of what has no example in its text. Warns if there is none of a function or class of a namespace."""
        try:
            if session := examples.example(member.path):
                yield docstrings.code(session, "pycon")
            elif member.kind in ("function", "method", "class") and not inside:
                _LOG.warning("%s has no example", member.path)
        except Exception as error:
            _LOG.warning("the example of %s raises %s: %s", member.path, type(error).__name__, error)

    def content(self, member: Member, inside: str) -> Iterator[nodes.Node]:
        """What stands below the head."""
        first = first_path(member.found) or member.path
        if not inside and first != member.path:
            yield self.same(member, first)
        elif member.kind == "data":
            said = instance(member.found)
            yield docstrings.paragraph(said) if said else nodes.paragraph(
                "", "", nodes.literal("", docstrings.shortened(repr(member.found))))
        else:
            text = inspect.getdoc(member.found) or ""
            yield from docstrings.content(text)
            if ">>>" not in text:
                yield from self.example(member, inside)
            if isinstance(member.found, type):
                yield from self.members(member)
            elif member.kind != "module" and not is_twin(member):
                yield from self.derivatives(member)
        if not inside:
            yield from self.differing(member)

    def same(self, member: Member, first: str) -> nodes.paragraph:
        """The line of a name that stands for a function or a class with another name."""
        words = "The method of " if member.kind == "method" else "Another name of "
        return nodes.paragraph("", "", nodes.Text(words), self.reference(first, first), nodes.Text("."))

    def members(self, member: Member) -> Iterator[nodes.Node]:
        """The entries of what a class defines itself, unless the class is a namespace with pages of its own."""
        if member.path in NAMESPACES:
            return
        for name, value in sorted(vars(member.found).items()):
            if name.startswith("_") or not (inspect.isroutine(value) or isinstance(value, property)):
                continue
            found = getattr(member.found, name) if isinstance(value, (classmethod, staticmethod)) else value
            kind = kind_of(found, member.found)
            if inspect.getdoc(found) or kind == "method":
                yield self.entry(Member(member.path, name, found, kind), member.path)

    def derivatives(self, member: Member) -> Iterator[nodes.Node]:
        """The statements of the operators that a function calls."""
        known = [(op, place) for op in operators_of(member.found) if (place := statements.statement(op))]
        shown = {place: op for op, place in reversed(known) if op.rules}
        if not known or (not shown and any(op.kind != "constant" for op, _ in known)):
            return
        if not shown:
            yield nodes.paragraph("", "", nodes.Text("No derivative."), classes=["rule"])
            return
        *places, = reversed(shown)
        short = [place for place in places if place.text.count("\n") < WHOLE][:MOST]
        for place in short:
            head = nodes.Text("Operator and derivative rule, ")
            yield nodes.paragraph("", "", head, self.place(place.path, place), nodes.Text(":"), classes=["rule"])
            yield docstrings.code(place.text)
        if rest := [place for place in places if place not in short]:
            head = nodes.Text("Further operators: " if short else "Operators: ")
            line = nodes.paragraph("", "", head, classes=["rule"])
            for i, place in enumerate(rest):
                line += [nodes.Text(", ")] if i else []
                line += self.place(shown[place].name, place)
            yield line

    def place(self, text: str, place: statements.Statement) -> nodes.reference:
        """A link to the statement of an operator."""
        return self.link(text, sources.address(place.path, place.line))

    def differing(self, member: Member) -> Iterator[nodes.Node]:
        """Links to the entries of the page on differences that name the function."""
        entries = differences.of(member.path) if member.kind != "module" else []
        if entries:
            line = nodes.paragraph("", "", nodes.Text("Differs from PyTorch: "), classes=["differs"])
            for i, entry in enumerate(entries):
                line += [nodes.Text(", ")] if i else []
                line += nodes.reference("", entry.title, internal=True,
                                        refuri=f"{self.up}differences.html#{entry.anchor}")
            line += nodes.Text(".")
            yield line


def instance(value: Any) -> str:
    """A line about an object that prints its place in memory, '' for others."""
    if " at 0x" not in repr(value):
        return ""
    about = docstrings.first_sentence(inspect.getdoc(type(value)) or "")
    return f"An instance of `{type(value).__name__}`. {about}".rstrip()


def is_twin(member: Member) -> bool:
    """Whether a function writes in place what the function without the last letter of its name computes."""
    return member.name.endswith("_") and f"{member.namespace}.{member.name[:-1]}" in {*first_paths().values()}


@cache
def _found(function: Any) -> tuple[Op, ...]:
    return tuple(statements.operators(function))


def operators_of(function: Any) -> tuple[Op, ...]:
    """The operators of a function, none for what cannot be a key of a cache."""
    try:
        return _found(function)
    except TypeError:
        return ()
