"""The page on subgradients shows the gradients that PyTorch gives."""

import torch

from comparing import subgradients


def test_the_page_is_what_pytorch_makes_of_it() -> None:
    assert subgradients.PAGE.read_text(encoding="utf-8") == subgradients.page(torch)
