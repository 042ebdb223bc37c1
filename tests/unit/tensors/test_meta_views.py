"""Views of tensors on the device meta, by strides that no memory stands behind."""

import retrograd as torch


def test_views_of_a_turned_tensor() -> None:
    x = torch.empty(6, 5, device="meta").t()
    assert x.unsqueeze(0).stride() == (5, 1, 5)
    assert x.expand(2, 5, 6).stride() == (0, 1, 5)
    assert x.unfold(0, 2, 1).stride() == (1, 5, 1)
