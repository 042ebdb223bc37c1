"""The list of files on the tour is what its program enters, and the pages that speak of the list agree."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig

import pytest

from showing import pages, reading_list

TOUR = pages.text_of(reading_list.PAGE)
LISTED = reading_list.listed(TOUR)
FRESH = "import json; from showing import reading_list; print(json.dumps(reading_list.entered()))"


@pytest.fixture(scope="module")
def entered() -> reading_list.Entered:
    """What the program enters, in a fresh process."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("without the GIL, a node takes a lock, in a file of its own")
    result = subprocess.run([sys.executable, "-c", FRESH], cwd=pages.ROOT / "tests", capture_output=True, text=True,
                            timeout=120)
    assert result.returncode == 0, result.stderr
    return reading_list.Entered(*json.loads(result.stdout))


def test_the_list_names_the_files_that_the_program_enters(entered: reading_list.Entered) -> None:
    """Run `make pages` if the program enters another file by now. If the file is not worth reading, mend the source."""
    assert LISTED.keys() == entered.listed.keys()


def test_the_files_beside_the_list_are_named(entered: reading_list.Entered) -> None:
    below = TOUR.partition(reading_list.BEGINNING)[2].partition(reading_list.END)[0].rpartition("|")[2]
    assert {*reading_list.FILE.findall(below)} == {*entered.making, *entered.first}


@pytest.mark.parametrize("file", LISTED)
def test_a_row_is_true(file: str) -> None:
    lines, said = LISTED[file]
    assert abs(reading_list.lines_of(file) - lines) <= max(10, 0.1 * lines)
    assert said == reading_list.sentence(file)


@pytest.mark.parametrize("file", LISTED)
def test_a_step_of_the_tour_names_the_file(file: str) -> None:
    assert f"`{file}`" in TOUR.partition(reading_list.END)[2]


def test_the_pages_say_how_long_the_list_is() -> None:
    length = reading_list.about(sum(lines for lines, _ in LISTED.values()))
    assert f"These are {len(LISTED)} files, about {length} lines." in TOUR
    (said,) = reading_list.LENGTH.finditer(pages.text_of(reading_list.README))
    assert (said[1], said[3]) == (str(len(LISTED)), length)


# The writer of the list, held to a list that is planted.


PLANTED = reading_list.Entered({"graph/fit.py": "y = x", "graph/route.py": "z = y"}, ["graph/node.py"],
                               ["graph/hooks.py"])


def test_the_list_is_written_and_read() -> None:
    page = f"Above.\n\n{reading_list.BEGINNING}\nold\n\n{reading_list.END}\nBelow.\n"
    new = reading_list.updated(page, PLANTED)
    assert new == reading_list.updated(new, PLANTED)
    assert (new.startswith("Above.\n"), new.endswith("\nBelow.\n"), "old" in new) == (True, True, False)
    assert reading_list.listed(new) == {
        file: (reading_list.lines_of(file), reading_list.sentence(file)) for file in PLANTED.listed}


def test_the_length_is_written_into_the_readme() -> None:
    lines = sum(map(reading_list.lines_of, PLANTED.listed))
    assert reading_list.length_updated("its 9 files, about\n1,000 lines", PLANTED) == (
        f"its 2 files, about\n{round(lines, -2):,} lines")


def test_files_are_seen_that_a_line_enters() -> None:
    lines = ["import retrograd as torch", "x = torch.ones(1)", "x.numpy()", "x.shape"]
    found = dict(reading_list.run(lines))
    assert "tensors/face/interop.py" in found["x.numpy()"]
    assert "tensors/face/interop.py" not in found["x.shape"]
