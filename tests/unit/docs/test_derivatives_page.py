"""The page on derivatives says what the tests check."""

from __future__ import annotations

import pytest

from comparing import derivatives
from op_table.exceptions import UNBATCHED, WITHOUT_GRADIENT, WITHOUT_TANGENT
from op_table.table import BY_NAME, TABLE


@pytest.mark.filterwarnings("ignore")
def test_the_page_is_current() -> None:
    assert derivatives.PAGE.read_text(encoding="utf-8") == derivatives.page()


def test_the_exceptions_are_entries() -> None:
    assert WITHOUT_GRADIENT.keys() == {entry.name for entry in TABLE if entry.refused}
    named = {*WITHOUT_TANGENT, *(name for names in UNBATCHED.values() for name in names)}
    assert named <= BY_NAME.keys()


def test_every_entry_is_in_one_family() -> None:
    in_families = [entry for entries in derivatives.BY_FAMILY.values() for entry in entries]
    assert len(in_families) == len(TABLE)
    assert {entry.name for entry in in_families} == BY_NAME.keys()
