"""The order of versions is PyTorch's."""

from __future__ import annotations

import operator

import pytest
from torch.torch_version import TorchVersion as Theirs

import retrograd
from retrograd.torch_version import TorchVersion as Ours

TEXTS = ["1", "1.0", "1.0.0", "1.0.1", "1a", "1.0a1", "1.0.dev1", "1.0a1.dev2", "1.0.post1", "1.0-1", "1.0.post1.dev3",
         "1.0a1.post2", "1.0+x", "1.0+x.1", "1.0+1.x", "1.0+x-2", "1!0", "v1.0", "1.0rc1", "1.0c1", "1.0_preview2",
         "nope", "1.0..", "1.0.post", "1.0dev"]


@pytest.mark.parametrize("text", [*TEXTS, str(retrograd.__version__)])
def test_a_version_is_compared_as_pytorch_compares_it(text: str) -> None:
    for other in [*TEXTS, str(retrograd.__version__)]:
        for compare in (operator.lt, operator.le, operator.eq, operator.ge, operator.gt, operator.ne):
            assert compare(Ours(text), other) == compare(Theirs(text), other), (text, compare.__name__, other)
