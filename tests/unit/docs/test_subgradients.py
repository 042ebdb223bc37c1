"""The page on subgradients shows the gradients that retrograd gives."""

import retrograd
from comparing import subgradients


def test_the_page_is_up_to_date() -> None:
    page = subgradients.PAGE.read_text(encoding="utf-8")
    assert page == subgradients.page(retrograd), "run `make pages`"


def test_numbers_are_written_as_mathematics_does() -> None:
    assert subgradients.shown([1.0, -0.0, -0.5, float("inf"), float("nan")]) == "[1, 0, −0.5, ∞, nan]"
