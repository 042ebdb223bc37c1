"""Notes below a message: one fact a line, each once, and the message stays PyTorch's."""

from __future__ import annotations

import copy
import pickle

import pytest

import retrograd as torch
from noting import whole
from retrograd.foundations.errors import at, note, noted, user_site


def test_a_message_has_no_help_in_it_and_the_notes_are_aligned() -> None:
    error = noted(RuntimeError("sentence"), "page#anchor", given="a\nb", instead="c", because="")
    assert str(error) == "sentence"
    assert error.__notes__ == ["  given      a\n             b", "  instead    c", "  read more  retrograd help anchor"]


def test_a_note_is_added_once_and_the_entry_stays_last() -> None:
    error = noted(RuntimeError("sentence"), "page#first", given="a")
    noted(error, "page#second", given="a", instead="b")
    note(error, "module", "0: Linear")
    assert error.__notes__ == ["  given      a", "  instead    b", "  module     0: Linear",
                               "  read more  retrograd help first"]


def test_errors_with_notes_are_pickled_and_copied() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.ones(2, 3) @ torch.ones(4, 5)
    for again in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
        assert (type(again), whole(again)) == (RuntimeError, whole(caught.value))


def test_an_error_that_is_raised_again_has_its_notes_once() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 3))
    with pytest.raises(RuntimeError) as caught:
        net(torch.ones(5))
    before = whole(caught.value)
    with pytest.raises(RuntimeError) as again:
        raise caught.value
    assert whole(again.value) == before
    assert before.count("read more") == 1


def test_a_place_is_a_file_a_line_and_its_source() -> None:
    site = user_site()
    text = at(site)
    assert text.endswith("    site = user_site()")
    assert text.partition("    ")[0].endswith(f"test_notes.py:{site.line if site else 0}")
    assert at(None) == ""


def test_a_warning_has_the_text_alone() -> None:
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.warns(UserWarning, match="is not a leaf Tensor") as caught:
        _ = y.grad
    assert "retrograd help" not in str(caught[0].message)
