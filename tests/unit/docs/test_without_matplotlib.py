"""Without matplotlib, tutorials and examples skip what draws, say what to install, and go on to their end."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from forked import ran
from retrograd.extras import skip_without
from showing import notebooks, pages

SAID = "Skipped, since the package matplotlib is absent. Install it: pip install matplotlib"
DRAWING = [path for path in notebooks.TUTORIALS if "matplotlib" in pages.text_of(path)]


@pytest.mark.parametrize("path", DRAWING, ids=lambda path: path.stem)
def test_a_tutorial_goes_on_to_its_end(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in sys.modules if name.startswith("matplotlib.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.chdir(tmp_path)
    skipped = 0
    for cell, printed in notebooks.said(pages.text_of(path), path.name):
        draws = "matplotlib" in cell.source
        skipped += draws
        assert " ".join(printed.split()) == SAID if draws else printed == cell.output
    assert skipped


@pytest.mark.parametrize(("example", "option", "end"), [
    ("digits", "--epochs=30", "\nThe loss and the accuracy are not drawn, since there is no matplotlib: "
                              "pip install matplotlib\n"),
    ("plot_wave", "--plot", "\nnot drawn, since there is no matplotlib: pip install matplotlib\n")])
def test_an_example_goes_on_to_its_end(example: str, option: str, end: str, tmp_path: Path) -> None:
    program = pages.ROOT / "examples" / f"{example}.py"
    absent = "import sys; sys.modules['matplotlib'] = None; from retrograd.command.cli import main; sys.exit(main())"
    result = ran("-c", absent, "run", str(program), option, cwd=tmp_path, options=("-W", "error"))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith(end)
    assert [*tmp_path.iterdir()] == []


def test_there_are_tutorials_that_draw() -> None:
    assert len(DRAWING) >= 7


def test_what_a_block_lacks_otherwise_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModuleNotFoundError, match="another"), skip_without("matplotlib"):
        raise ModuleNotFoundError("No module named 'another'", name="another")
    with pytest.raises(ValueError, match="wrong"), skip_without("matplotlib"):
        raise ValueError("wrong")
    with skip_without("matplotlib"):
        print("drawn")
    assert capsys.readouterr().out == "drawn\n"
