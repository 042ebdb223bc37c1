"""`retrograd help` shows each entry of the pages on errors, found by its name or by a message."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from retrograd.command import cli, entries
from showing import error_index, pages

ALL = entries.entries()


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The exit status of the command, and what it prints."""
    with pytest.raises(SystemExit) as end:
        cli.main(["help", *words])
    printed = capsys.readouterr()
    return int(end.value.code or 0), printed.out, printed.err


def test_the_entries_are_those_of_the_documentation() -> None:
    expected = {entry.anchor: entry.sentences[0] for page in pages.ERRORS for entry in error_index.entries(page)}
    assert {entry.name: entry.heading for entry in ALL} == expected


def test_an_entry_is_shown_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    status, text, _ = said(capsys, "modified-in-place")
    assert status == 0
    assert text.startswith("one of the variables needed for gradient computation has been modified by an")
    assert "\nFails:\n\n    import retrograd as torch\n" in text
    assert "\nWorks:\n" in text
    assert "    tensor([1.0000, 2.7183])\n" in text
    assert "](" not in text
    assert "\x1b" not in text                                  # a pipe gets no colors


@pytest.mark.parametrize("message", [
    "one of the variables needed",
    "ONE of the  variables needed for gradient computation",
    "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.FloatTensor [7]], which is output 0 of Sigmoid, is at version 3",
])
def test_a_part_of_a_message_finds_the_entry(capsys: pytest.CaptureFixture[str], message: str) -> None:
    assert said(capsys, message) == said(capsys, "modified-in-place")
    assert said(capsys, *message.split()) == said(capsys, "modified-in-place")


def test_numbers_in_a_message_do_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    message = "mat1 and mat2 shapes cannot be multiplied (7x30 and 4x1)"
    assert said(capsys, message) == said(capsys, "matrix-shapes")


@pytest.mark.parametrize(("message", "name"), [
    ("mat1 and mat2 must have the same dtype, but got Long and Float", "matrix-dtypes"),
    ("expected target dtype to be Long or Byte, but got Float", "dtype-of-targets"),
    ("RuntimeError: Given groups=1, weight of size [4, 3, 3], expected input[2, 8, 3] to have 3 channels, but got 8 "
     "channels instead", "channels"),
    ("Target -1 is out of bounds.", "target-out-of-bounds"),
    ("shape '[4]' is invalid for input of size 6", "other-size"),
    ("result type Float can't be cast to the desired output type Int", "result-type"),
    ("Target size (torch.Size([3, 1])) must be the same as input size (torch.Size([3]))", "different-sizes-in-a-loss"),
    ("Function 'LogBackward0' returned nan values in its 0th output.", "nan-in-gradient"),
    ("add(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
     "requires grad.", "out-does-not-differentiate"),
])
def test_shapes_dtypes_and_names_in_a_message_do_not_count(
        capsys: pytest.CaptureFixture[str], message: str, name: str) -> None:
    assert said(capsys, message) == said(capsys, name)


def test_a_narrow_terminal_gets_the_list(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "6")
    assert said(capsys)[0] == 0


def test_several_entries_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    status, text, _ = said(capsys, "requires_grad must be")
    assert status == 0
    assert "requires-grad-must-be-a-bool" in text
    status, text, _ = said(capsys, "inference tensor")
    assert text.splitlines()[0].endswith("entries have this text:")
    assert "  requires-grad-of-inference-tensor\n" in text


def test_without_a_name_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    status, text, _ = said(capsys)
    assert status == 0
    names = [line.strip() for line in text.splitlines() if line.startswith("  ") and not line.startswith("   ")]
    assert names == [entry.name for entry in ALL]


def test_an_unknown_name_offers_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    status, text, error = said(capsys, "modifed-inplace")
    assert (status, text) == (1, "")
    assert "the nearest: modified-in-place" in error
    status, _, error = said(capsys, "zzzz")
    assert status == 1
    assert "nearest" not in error


def test_a_terminal_has_colors_and_its_width(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.delenv("NO_COLOR", raising=False)
    _, text, _ = said(capsys, "modified-in-place")
    assert text.startswith("\x1b[1mone of the variables")
    assert "\x1b[31mFails:\x1b[0m" in text
    prose = [line for line in text.splitlines() if not line.startswith("    ") and "\x1b" not in line]
    assert max(map(len, prose)) <= 50
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in said(capsys, "modified-in-place")[1]


def test_every_entry_is_shown_with_its_programs() -> None:
    for entry in ALL:
        text = entries.shown(entry, 88, color=False)
        assert text.count("import ") >= 2, entry.name
        assert "```" not in text, entry.name
        assert ")=" not in text.splitlines()[0], entry.name


def test_a_reader_that_has_enough_ends_the_command_quietly(tmp_path: Path) -> None:
    program = (f"import subprocess, sys\nshown = subprocess.Popen([{sys.executable!r}, '-m', 'retrograd', 'help'], "
               "stdout=subprocess.PIPE, stderr=subprocess.PIPE)\nshown.stdout.close()\nprint(shown.stderr.read())")
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=True)
    assert result.stdout == "b''\n"
