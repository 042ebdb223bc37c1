"""The pictures of the page on writes in place show what retrograd does, and the page has their code."""

import pytest

import retrograd
from showing import pages, pictures


@pytest.mark.parametrize("name", pictures.FIGURES)
def test_a_picture_is_up_to_date(name: str) -> None:
    picture = pages.text_of(pictures.FOLDER / f"{name}.svg")
    assert picture == pictures.svg(retrograd, pictures.FIGURES[name]), "run `make pages`"


def test_the_page_shows_every_picture_below_its_code() -> None:
    page = pages.text_of(pictures.PAGE)
    assert {path.stem for path in pictures.FOLDER.glob("*.svg") if not path.stem.startswith("growth-")} == {
        *pictures.FIGURES}
    for name, steps in pictures.FIGURES.items():
        above, shown, _ = page.partition(f"](pictures/{name}.svg)")
        assert shown
        section = above.rpartition("\n## ")[2]
        assert [step.code for step in steps if step.code not in section] == []
