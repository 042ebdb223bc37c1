"""The page on coverage: made anew it is the same, and nearly all everyday operators are whole."""

from __future__ import annotations

import pytest

from comparing import everyday, name_coverage


def test_the_page_is_up_to_date() -> None:
    assert name_coverage.PAGE.read_text(encoding="utf-8") == name_coverage.page()
    assert name_coverage.DATA.read_text(encoding="utf-8") == name_coverage.data()


@pytest.mark.parametrize("family", everyday.EVERYDAY)
def test_everyday_operators_are_whole(family: str) -> None:
    names = everyday.names()[family]
    missing = {name: lacks for name in names if (lacks := name_coverage.lacks(name))}
    assert len(missing) <= 0.05 * len(names), missing
