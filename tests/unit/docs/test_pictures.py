"""The pictures on the pages show what retrograd does, and the page on writes in place has their code."""

import pytest

import retrograd
from showing import graph_pictures, pages, pictures


@pytest.mark.parametrize("name", pictures.FIGURES)
def test_a_picture_is_up_to_date(name: str) -> None:
    picture = pages.text_of(pictures.FOLDER / f"{name}.svg")
    assert picture == pictures.svg(retrograd, pictures.FIGURES[name]), "run `make pages`"


def test_the_page_shows_every_picture_below_its_code() -> None:
    page = pages.text_of(pictures.PAGE)
    assert {path.stem for path in pictures.FOLDER.glob("*.svg") if not path.stem.startswith(("growth-", "graph-"))} == {
        *pictures.FIGURES}
    for name, steps in pictures.FIGURES.items():
        above, shown, _ = page.partition(f"](pictures/{name}.svg)")
        assert shown
        section = above.rpartition("\n## ")[2]
        assert [step.code for step in steps if step.code not in section] == []


@pytest.mark.parametrize("name", graph_pictures.FIGURES)
def test_a_picture_of_a_graph_is_up_to_date(name: str) -> None:
    assert pages.text_of(graph_pictures.file_of(name)) == graph_pictures.svg(name), "run `make pages`"
