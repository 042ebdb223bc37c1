"""torch.__version__: PyTorch's version, compared as a version. The facts are recorded from PyTorch."""

from __future__ import annotations

import importlib.metadata
import operator
from itertools import pairwise
from typing import Any

import pytest

import retrograd
from retrograd.torch_version import TorchVersion

ORDERED = ["1!0.1", "2.13.0.post1", "2.13.0+cu1.2", "2.13.0+cu1", "2.13.0+cpu", "2.13", "2.13rc2", "2.13b1", "2.13a1",
           "2.13.0.dev20260101", "2.9.1", "1.13"]


def test_the_version_is_that_of_pytorch_with_a_local_part() -> None:
    assert isinstance(retrograd.__version__, TorchVersion)
    assert str(retrograd.__version__) == retrograd.version.__version__
    release, _, local = retrograd.version.__version__.partition("+")
    assert release == "2.13.0"
    assert local == f"retrograd{retrograd.version.retrograd}" == f"retrograd{importlib.metadata.version('retrograd')}"
    assert (retrograd.version.cuda, retrograd.version.hip, retrograd.version.debug) == (None, None, False)
    assert retrograd.torch_version.TorchVersion is TorchVersion


@pytest.mark.parametrize(("newer", "older"), [*pairwise(ORDERED)])
def test_versions_are_in_their_order(newer: str, older: str) -> None:
    a, b = TorchVersion(newer), TorchVersion(older)
    assert [a > b, a >= b, b < a, b <= a] == [True] * 4
    assert [a < b, a <= b, a == b, b > a, b >= a] == [False] * 5


@pytest.mark.parametrize(
    ("other", "held"),
    [
        ((1, 8), "gt ge"), ("1.10", "gt ge"), ([2, 13], "gt ge"), ((2, 13, 0), "gt ge"), ("2.13.0", "gt ge"),
        ("2.13.0+cpu", "le eq ge"), ("2.13.0a0", "gt ge"), ((3,), "lt le"), (("2", "13"), "gt ge"),
        ("parrot", "lt le"), ("v2.13.0+CPU", "le eq ge"),
    ],
)
def test_what_a_version_is_compared_with(other: Any, held: str) -> None:
    version = TorchVersion("2.13.0+cpu")
    found = [name for name in ("gt", "lt", "le", "eq", "ge") if getattr(operator, name)(version, other)]
    assert " ".join(found) == held


@pytest.mark.parametrize("other", [None, 5, 2.1])
def test_what_is_no_version_cannot_be_compared(other: Any) -> None:
    version = TorchVersion("2.13.0")
    assert version != other
    with pytest.raises(TypeError, match="^'>=' not supported between instances of 'TorchVersion' and "):
        version >= other  # noqa: B015


def test_a_version_is_a_text() -> None:
    version = TorchVersion("2.13.0+cpu")
    assert hash(version) == hash("2.13.0+cpu")
    assert (version.split("+")[0], repr(version)) == ("2.13.0", "'2.13.0+cpu'")
