"""The pages on errors are complete: they show every sentence that autograd says in an error. The entry of a sentence
has a program that fails with it, and a program that is mended. Labels tell the two kinds of program apart. The message
ends with the address of the entry.

test_docs.py holds that the programs say so, and tests/parity/docs/test_pages.py that PyTorch says so.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from showing import error_index, pages
from showing.error_index import Entry

PACKAGE = pages.ROOT / "src" / "retrograd"
# Where the sentences of autograd stand. Profiles, counts and devices are about programs, and not about derivatives.
_OF_TENSORS = ("recording/assigned", "recording/gradients", "recording/hooks", "recording/inplace",
               "recording/inplace_methods", "recording/resizing", "recording/saved_values", "recording/saving",
               "state/base", "state/inference", "state/refusals", "tensor")
_OF_UTILS = ("checkpoint", "hooks", "recomputation")
MODULES = [path for path in sorted([*PACKAGE.glob("graph/*.py"), *PACKAGE.glob("autograd/**/*.py"),
                                    *(PACKAGE / "utils" / f"{name}.py" for name in _OF_UTILS),
                                    *PACKAGE.glob("nn/modules/module/*hooks.py"),
                                    *(PACKAGE / "tensors" / f"{name}.py" for name in _OF_TENSORS)])
           if not path.stem.startswith(("profiler", "operation_counts", "devices", "gradcheck_texts"))]

# Sentences that are on no page, each with the reason. A sentence is found by its beginning.
LEFT_OUT = {
    "<{}": "a repr, and no error",
    "`{}`, written over the tensor itself": "a docstring",
    "The backward of `{}`": "a docstring",
    "attempting to assign a gradient with device type": "of the device meta, whose tensors are few programs' own",
    "It is a view of the elements of a sparse tensor": "of sparse tensors, where PyTorch records the write",
    "attempting to assign a gradient to a tensor that has data": "of sparse tensors, which few programs assign",
    "the tensor has the layout {}, and": "the note of the one before",
    "cannot pickle": "of copying, which is no part of autograd",
    "a graph cannot be copied or saved": "of copying, which is no part of autograd",
    "save the tensor's detach(), or run": "of copying, which is no part of autograd",
    "no saved value was written to": "an assertion that no program reaches",
    "an input whose shape is asked for": "an assertion that no program reaches",
    "volatile was removed": "an option that PyTorch lost years ago",
    "Variable can't be volatile": "an option that PyTorch lost years ago",
    "<memory held:": "a repr, and no error",
    "No forward pass information": "a warning that goes before a report of anomaly mode, which says it too",
    "Error detected in {}.": "a warning that goes before a report of anomaly mode, which says it too",
    "\n\nPrevious calculation was induced by": "a warning that goes before a report of anomaly mode, which says it too",
    "as a global Module hook": "the end of a sentence that is shown; a program with it would switch the whole process",
    "a finite tensor of shape": "takes the place of numbers in a report, where they are complex",
    "The hessian of the user-provided function is independent of entry": "takes a wrong second derivative",
    " as it prevents from using the double backward trick": "the end of the one before",
    "For output {} and input {}:": "takes a backward that counts how often it was called",
    "\nThe above quantities relating": "gradcheck's fast mode, whose last figures are the machine's",
    "along random directions they are": "gradcheck's fast mode, whose last figures are the machine's",
}

# Entries whose messages have no address: the program or Python words them, or a warning is shown as an error.
WITHOUT_ADDRESS = {"hooks#no-saved-tensors-here", "context#no-such-attribute-of-ctx",
                   "hooks#always-called-hook-failed"}

HEADING = re.compile(r"^(#+) (.*)$", re.MULTILINE)


def sentences(path: Path) -> Iterator[str]:
    """The texts of a module that are not docs and have four words or more; a field in a text is {}."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            inside.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            inside.update(part for part in node.values if isinstance(part, ast.Constant))
    for node in ast.walk(tree):
        if node not in inside and isinstance(node, ast.Constant | ast.JoinedStr):
            text = as_text(node)
            if len(text.split()) >= 4:
                yield text


def as_text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(as_text(part) for part in node.values)
    return re.sub(r"\{\w*\}", "{}", str(node.value)) if isinstance(node, ast.Constant) else "{}"


def entries(page: Path) -> Iterator[tuple[str, list[pages.Program]]]:
    """The headings of a page that programs stand under, with those programs."""
    text = pages.text_of(page)
    found = [*HEADING.finditer(pages.FENCE.sub(lambda block: " " * len(block[0]), text))]
    for heading, end in zip(found, [*(after.start() for after in found[1:]), len(text)]):
        programs = [*pages.programs(pages.name_of(page), text[heading.start():end])]
        if programs:
            yield heading[2].replace("`", ""), programs


def messages(program: pages.Program) -> str:
    """What a page says that the last block of a program ends with, in one line."""
    return pages.in_one_line(program.blocks[-1].output)


ENTRIES = [entry for page in pages.ERRORS for entry in entries(page)]
SHOWN = "\n".join(messages(program) for _, programs in ENTRIES for program in programs)
SENTENCES = [(path, text) for path in MODULES for text in sentences(path)]


def shown(sentence: str) -> bool:
    """Whether a page shows a message with this sentence in it."""
    texts = filter(None, pages.in_one_line(sentence).split("{}"))      # a field at either end may be anything
    return re.search(".*?".join(map(re.escape, texts)), SHOWN) is not None


def left_out(sentence: str) -> str | None:
    """The beginning by which a sentence is left out."""
    return next((beginning for beginning in LEFT_OUT if sentence.startswith(beginning)), None)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_every_sentence_is_on_a_page(path: Path) -> None:
    assert [text for where, text in SENTENCES if where == path and not shown(text) and not left_out(text)] == []


def test_what_is_left_out_exists_and_is_on_no_page() -> None:
    hidden = {left_out(text) for _, text in SENTENCES if not shown(text)}
    assert hidden - {None} == set(LEFT_OUT)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry[0])
def test_an_entry_shows_the_error_and_the_remedy(entry: tuple[str, list[pages.Program]]) -> None:
    """Its first program fails with what the heading says, and its last does not fail, and shows it."""
    heading, programs = entry
    assert pages.in_one_line(heading).lower() in messages(programs[0]).replace("`", "").lower()
    last = [*pages.said(programs[-1])]
    assert all(one.error is None for one in last)
    assert last[-1].printed


ADDRESSED = [entry for page in pages.ERRORS for entry in error_index.entries(page)]


def addresses(path: Path) -> Iterator[str]:
    """The entries that a module names in `noted(...)`, and the entries in tables of the module."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if ADDRESS.search(text) else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and ADDRESS.fullmatch(node.value):
            yield node.value


ADDRESS = re.compile(rf"({'|'.join(error_index.PAGES)})#[\w-]+")


def test_every_address_that_a_message_names_exists() -> None:
    named = {address for path in PACKAGE.rglob("*.py") for address in addresses(path)}
    assert named - {str(entry) for entry in ADDRESSED} == set()
    assert len(named) > 200


def test_anchors_are_unique() -> None:
    """A label of the documentation belongs to one page only."""
    anchors = [entry.anchor for entry in ADDRESSED]
    assert len(anchors) == len(set(anchors))


def test_every_page_is_in_the_index() -> None:
    assert {page.stem for page in pages.ERRORS} == set(error_index.PAGES)
    text = pages.text_of(error_index.INDEX)
    assert text == error_index.updated(text), "make pages writes the index"


# Warnings that have notes.
NOTED = frozenset({"shapes#different-sizes-in-a-loss"})


def has_address(entry: Entry, text: str) -> bool:
    """Whether a line of what a program said names the command that shows an entry."""
    return read_more(entry.anchor) in text.splitlines()


def read_more(anchor: str) -> str:
    return f"  read more  retrograd help {anchor}"


@pytest.mark.parametrize("entry", ADDRESSED, ids=str)
def test_the_message_of_an_entry_has_its_address(entry: Entry) -> None:
    *_, last = pages.said(entry.program)
    warns = last.label == pages.WARNS and str(entry) not in NOTED          # most warnings have PyTorch's text alone
    assert has_address(entry, last.text) is not (warns or str(entry) in WITHOUT_ADDRESS), last.text


def test_a_message_with_another_address_is_found() -> None:
    entry = next(entry for entry in ADDRESSED if entry.anchor == "second-backward")
    text = f"RuntimeError: Trying to backward\n{read_more('second-backward')}\n  a note"
    assert has_address(entry, text)
    assert not has_address(entry._replace(anchor="modified-in-place"), text)


@pytest.mark.parametrize("page", pages.ERRORS, ids=pages.name_of)
def test_programs_are_labeled_as_what_they_do(page: Path) -> None:
    """A label above each program says whether the program fails, warns or works. `make pages` writes the labels."""
    assert wrongly_labeled(pages.of(page)) == []


def wrongly_labeled(programs: list[pages.Program]) -> list[str]:
    return [f"line {block.line}: {block.label or 'no label'}" for program in programs
            for block, one in zip(program.blocks, pages.said(program)) if block.label != one.label]


def test_a_wrong_label_is_found() -> None:
    text = "".join(f"{above}```python\n{source}\n```\n\n" for above in ("", "**Works:**\n\n", "**Fails:**\n\n")
                   for source in ("import math", "import math; 1 / 0"))
    assert wrongly_labeled([*pages.programs("page.md", text)]) == [
        "line 1: no label", "line 5: no label", "line 17: Works", "line 23: Fails"]


def test_a_sentence_that_is_missing_is_found() -> None:
    assert shown("one of the variables needed for gradient computation has been modified by an inplace operation")
    assert not shown("one of the variables needed for {} computation has been eaten")
