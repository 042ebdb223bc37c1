"""The tutorials in docs/learn run as scripts, print what their pages show, and name places in the source that exist."""

import ast
import re
import sysconfig
from pathlib import Path

import pytest

from forked import ran
from needing import needs
from showing import notebooks, pages

SOURCE = pages.ROOT / "src" / "retrograd"
READING = pages.ROOT / "docs" / "learn" / "reading.py"
NAMED = re.compile(r"((?:`\w+`(?:, | and )?)+) in `([\w/]+\.py)`|`([\w/]+\.py)` has ((?:`\w+`(?: and )?)+)")


def name_of(path: Path) -> str:
    return path.stem


@needs("matplotlib")
@pytest.mark.sampled(3)                                    # the pages run all of them
@pytest.mark.parametrize("path", notebooks.TUTORIALS, ids=name_of)
def test_a_tutorial_runs_as_a_script(path: Path, tmp_path: Path) -> None:
    """From an empty folder, without a warning; it prints what the page shows, and writes the pictures that it shows."""
    if path.stem == "reading" and sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("without the GIL, a node takes a lock, and the tutorial lists the call")
    result = ran("-m", "retrograd", "run", str(path), cwd=tmp_path, options=("-W", "error"),
                 imported=("matplotlib.pyplot",))
    assert (result.returncode, notebooks.DETECTED.sub("", result.stderr)) == (0, "")
    script = pages.text_of(path)
    assert notebooks.as_printed(result.stdout, path) == notebooks.expected(script)
    assert sorted(found.name for found in tmp_path.iterdir()) == sorted(notebooks.WRITTEN.findall(script))


@pytest.mark.parametrize("path", notebooks.TUTORIALS, ids=name_of)
def test_a_tutorial_has_all_that_a_tutorial_has(path: Path) -> None:
    page = notebooks.as_page(pages.text_of(path))
    assert page.startswith("# ")
    assert page.count("**You will learn**") == 1
    assert "\n## Exercise\n" in page
    assert any(notebooks.HIDDEN in cell.tags for cell in notebooks.cells(pages.text_of(path)))
    assert "\n## Where to " in page
    assert f"{{download}}`This page as a script <{path.name}>`" in page


@pytest.mark.parametrize("path", notebooks.TUTORIALS, ids=name_of)
def test_what_there_is_to_see_is_said(path: Path) -> None:
    cells = notebooks.cells(pages.text_of(path))
    assert [cell.source for cell in cells if bool(cell.alt) != bool(notebooks.WRITTEN.findall(cell.source))] == []


def test_no_step_of_the_engine_in_ten_steps_is_longer_than_a_hundred_lines() -> None:
    lines: dict[str, int] = {}
    for cell in notebooks.cells(pages.text_of(READING.with_name("ten_steps.py"))):
        if cell.text:
            steps = re.findall(r"^## (Step \d+)", cell.source, re.MULTILINE)
            lines |= dict.fromkeys(steps, 0)
        elif lines:
            lines[[*lines][-1]] += sum(1 for line in cell.source.splitlines() if line.strip())
    assert [*lines] == [f"Step {number}" for number in range(1, 11)]
    assert max(lines.values()) < 100, lines


@needs("nbformat")
def test_cells_of_retrograds_own_are_marked() -> None:
    shown = notebooks.as_notebook('# %% tags=["retrograd"]\nprint(1)\n#> 1\n\n# %%\nprint(2)\n#> 2\n').cells
    assert [cell.source for cell in shown] == [notebooks.OWN, "print(1)", "print(2)"]


def test_the_list_of_tutorials_is_whole() -> None:
    index = pages.text_of(pages.ROOT / "docs" / "learn" / "index.md")
    assert sorted(re.findall(r"\((\w+)\.py\)", index)) == sorted(path.stem for path in notebooks.TUTORIALS)


def test_the_names_to_look_for_are_there() -> None:
    text = pages.in_one_line(notebooks.as_page(pages.text_of(READING)))
    found = [(before or after, file or other) for before, file, other, after in NAMED.findall(text)]
    assert len(found) == 10
    for names, file in found:
        nodes = [*ast.walk(ast.parse(pages.text_of(SOURCE / file)))]
        defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert {*re.findall(r"`(\w+)`", names)} <= defined, file


# The reader of tutorials, held to one with planted faults.


PLANTED = '''# %% [markdown]
# # Title
#
# Text.

# %%
import math
print(1)
#> old

# %% tags=["hide-cell"] alt="A note"
print(math.pi > 3, "x" * 3)
open("note.svg", "w").close()
'''


def test_the_reader_finds_cells() -> None:
    text, first, second = notebooks.cells(PLANTED)
    assert (text.text, text.source) == (True, "# Title\n\nText.\n")
    assert (first.source, first.output, first.tags) == ("import math\nprint(1)\n", "old\n", ())
    assert (second.tags, second.alt, second.output) == (("hide-cell",), "A note", "")
    page = notebooks.as_page(PLANTED)
    assert page.startswith("# Title\n\nText.\n\n```python\nimport math\nprint(1)\n```\n\n```text\nold\n```\n")


def test_outputs_are_written_below_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    once = notebooks.brought_up_to_date(PLANTED, "planted.py")
    assert "print(1)\n#> 1\n\n# %% tags" in once
    assert once.endswith('open("note.svg", "w").close()\n#> True xxx\n')
    assert notebooks.brought_up_to_date(once, "planted.py") == once
    assert notebooks.expected(once) == "1\nTrue xxx\n"


def test_the_name_of_a_script_and_wide_lines() -> None:
    path = Path("/somewhere/else/page.py")
    assert notebooks.as_printed("  at /tmp/a/page.py:3  \n", path) == "  at page.py:3\n"
    wide = "word " * 20
    assert notebooks.as_printed(wide, path) == f"{'word ' * 16}word\n    word word word\n"


@needs("nbformat")
def test_a_notebook_has_outputs_and_pictures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"a cell prints '1\\n', and its page says 'old\\n'"):
        notebooks.as_notebook(PLANTED)
    notebook = notebooks.as_notebook(notebooks.brought_up_to_date(PLANTED.replace("note.svg", "n.svg"), "planted.py"))
    text, first, second = notebook.cells
    assert (text.cell_type, first.cell_type, first.metadata.tags) == ("markdown", "code", [])
    assert [output.text for output in first.outputs] == ["1\n"]
    assert (second.metadata.tags, second.metadata.mystnb["image"]) == (["hide-cell"], {"alt": "A note"})
    assert [output.output_type for output in second.outputs] == ["stream", "display_data"]
