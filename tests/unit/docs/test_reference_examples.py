"""The examples that the reference makes are sessions that run, and each listed program shows something."""

from __future__ import annotations

import doctest
import inspect
import re
import sys
import warnings
from collections.abc import Iterator

import pytest

from needing import DOCS, absent, needs

if missing := absent(*DOCS):
    pytest.skip(missing, allow_module_level=True)

import retrograd
from showing import site

pytestmark = needs(*DOCS)
sys.path.append(str(site.DOCS / "_extensions"))

from reference import examples, sessions  # noqa: E402
from reference.namespaces import Member, first_path, public_names  # noqa: E402


@pytest.fixture(autouse=True)
def _what_examples_set_for_the_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(retrograd.hub._Folder, "chosen", None)
    allowed = retrograd.serialization.get_safe_globals()
    yield
    retrograd.serialization.clear_safe_globals()
    retrograd.serialization.add_safe_globals(allowed)


def described() -> list[Member]:
    """The functions and classes that have an entry of their own."""
    return [member for member in public_names() if member.kind in ("function", "method", "class")
            and first_path(member.found) == member.path]


@pytest.mark.parametrize("path", sorted(sessions.listed()))
def test_a_listed_program_shows_something(path: str) -> None:
    assert sessions.session(tuple(sessions.listed()[path]))


@pytest.mark.sampled(4)                                    # the pages are made of these sessions, too
@pytest.mark.parametrize("part", range(4))
def test_what_the_reference_makes_is_what_a_reader_sees(part: int) -> None:
    """Python's doctest runs each session again, with the names that a reader has after `import retrograd as torch`."""
    members = [member for member in described() if ">>>" not in (inspect.getdoc(member.found) or "")]
    found = {member.path: session for member in members[part::4] if (session := examples.example(member.path))}
    assert len(found) > 250
    runner = doctest.DocTestRunner(verbose=False)
    for session, path in {session: path for path, session in found.items()}.items():
        names = {"torch": retrograd, "retrograd": retrograd}
        text = re.sub(r"^$", "<BLANKLINE>", session, flags=re.MULTILINE)         # as doctest wants empty lines
        test = doctest.DocTestParser().get_doctest(f"{text}\n", names, path, None, 0)
        with retrograd.random.fork_rng(), warnings.catch_warnings():
            failed = runner.run(test, clear_globs=False, out=lambda text: None).failed
        assert not failed, f"{path}\n{session}"


def test_every_entry_has_an_example() -> None:
    lacking = [member.path for member in described() if ">>>" not in (inspect.getdoc(member.found) or "")
               and not examples.example(member.path)]
    assert not lacking


def test_a_program_that_shows_nothing_or_changes_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to show"):
        sessions.session(("x = torch.ones(1)",))
    with pytest.raises(ValueError, match="another result each time"):
        sessions.session(("import time", "time.perf_counter_ns()"))
    with pytest.raises(ValueError, match="too long"):
        sessions.session(("torch.arange(400.)",))
    assert sessions.session(("torch.rand(1)",)).startswith(">>> _ = torch.manual_seed(0)\n>>> torch.rand(1)\ntensor")
