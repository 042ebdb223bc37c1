"""How the reference makes examples: as sessions that do the same each time, in lines that Python takes.

The examples themselves are tried where the pages are read, in `test_site.py`.
"""

from __future__ import annotations

import ast
import sys
from types import SimpleNamespace

import pytest

from needing import DOCS, absent, needs

if missing := absent(*DOCS):
    pytest.skip(missing, allow_module_level=True)

import retrograd
from showing import site

pytestmark = needs(*DOCS)
sys.path.append(str(site.DOCS / "_extensions"))

from reference import docstrings, entries, sessions  # noqa: E402
from reference.namespaces import Member, public_names  # noqa: E402


def test_a_program_that_shows_nothing_or_changes_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to show"):
        sessions.session(("x = torch.ones(1)",))
    with pytest.raises(ValueError, match="another result each time"):
        sessions.session(("import time", "time.perf_counter_ns()"))
    with pytest.raises(ValueError, match="too long"):
        sessions.session(("torch.arange(400.)",))
    assert sessions.session(("torch.rand(1)",)).startswith(">>> _ = torch.manual_seed(0)\n>>> torch.rand(1)\ntensor")


def test_listed_programs_are_of_public_names() -> None:
    assert {*sessions.listed()} - {member.path for member in public_names()} == set()


@pytest.mark.parametrize(("kind", "inside", "program", "said"), [
    ("function", "", "torch.ones(1)", ""), ("function", "", "", "torch.f has no example"),
    ("method", "torch.C", "", ""), ("property", "", "", ""),
    ("function", "", "torch.gone()", "the example of torch.f raises AttributeError: "),
    ("function", "", "x = 1", "the example of torch.f raises ValueError: nothing to show")])
def test_the_build_warns_of_an_entry_without_an_example(
        monkeypatch: pytest.MonkeyPatch, kind: str, inside: str, program: str, said: str) -> None:
    warnings: list[str] = []
    log = SimpleNamespace(warning=lambda text, *arguments: warnings.append(text % arguments))
    monkeypatch.setattr(entries, "_LOG", log)
    monkeypatch.setattr(sessions, "listed", lambda: {"torch.f": [program]} if program else {})
    writer = entries.Writer(SimpleNamespace(docname="reference/torch"))
    found = [*writer.example(Member("torch", "f", retrograd.ones, kind), inside)]
    assert len(found) == (program == "torch.ones(1)")
    assert [text[:len(said)] for text in warnings] == [said] * bool(said)


LONG = "first_long_name(1.0, 2.0), " * 4 + "last_name(3)"


@pytest.mark.parametrize("statement", [
    LONG, f"found = {LONG}", f"a = b = {LONG}", f"total: int = {' + '.join(LONG.split(', '))}",
    f"with {', '.join(['first_long_name(1.0, 2.0) as one'] * 4)}: pass", f"with {LONG}: pass", f"print({LONG})",
    f"text = 'häuser', {LONG}", "text = 'a string that is longer than a page " + "is wide " * 10 + "'",
    f"return_of({LONG}), None", f"if all([{LONG}]) and True: pass", "f'{ä}', " + LONG])
def test_a_broken_statement_is_still_a_statement(statement: str) -> None:
    lines = [*docstrings.broken(f">>> {statement}")]
    assert len(lines) > 1
    assert max(map(len, lines)) <= docstrings.WIDTH
    assert [line[:4] for line in lines] == [">>> ", *["... "] * (len(lines) - 1)]
    again = ast.parse("\n".join(line[4:] for line in lines))
    assert ast.dump(again) == ast.dump(ast.parse(statement))
