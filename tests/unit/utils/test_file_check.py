"""Checks of texts. The facts were taken from PyTorch 2.13."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch
from retrograd.testing import FileCheck


@pytest.mark.parametrize(("checks", "text"), [
    ([("check", "a"), ("check", "b")], "x a b"),
    ([("check_not", "c"), ("check", "b"), ("check", "c")], "a b c"),
    ([("check_count", "a", 2)], "a a a"),
    ([("check", "a"), ("check_same", "b")], "a b"),
    ([("check", "a"), ("check_next", "b")], "a\nb"),
    ([("check_dag", "b"), ("check_dag", "a"), ("check", "c")], "a b c"),
    ([("check_regex", "a+b")], "xaab"),
])
def test_texts_that_pass(checks: list[Any], text: str) -> None:
    made = FileCheck()
    for name, *arguments in checks:
        made = getattr(made, name)(*arguments)
    assert made.run(text) is None


@pytest.mark.parametrize(("checks", "text", "said"), [
    ([("check", "b"), ("check", "a")], "x a b", 'Expected to find "a" but did not find it'),
    ([("check_not", "a")], "x a b", 'Expected to not find "a" but found it'),
    ([("check", "a"), ("check_not", "c"), ("check", "b")], "a c b", 'Expected to not find "c" but found it'),
    ([("check_count", "a", 2)], "a", 'Expected to find "a" but did not find it'),
    ([("check_count", "a", 2, True)], "a a a", 'Expected to not find "a" but found it'),
    ([("check", "a"), ("check_same", "b")], "a\nb", r'Expected to not find "\\n" but found it'),
    ([("check", "a"), ("check_next", "b")], "a\n\nb", r'Expected to not find "\\n" but found it'),
    ([("check_dag", "b"), ("check_dag", "a"), ("check", "b")], "a b", 'Expected to find "b" but did not find it'),
    ([], "a", "No checks have been added"),
])
def test_texts_that_fail(checks: list[Any], text: str, said: str) -> None:
    made = torch.FileCheck()
    for name, *arguments in checks:
        made = getattr(made, name)(*arguments)
    with pytest.raises(RuntimeError, match=said):
        made.run(text)
