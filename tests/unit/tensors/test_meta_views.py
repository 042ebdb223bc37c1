"""Views of tensors on the device meta, by strides that no memory stands behind."""

import retrograd as torch


def test_views_of_a_turned_tensor() -> None:
    x = torch.empty(6, 5, device="meta").t()
    assert x.unsqueeze(0).stride() == (5, 1, 5)
    assert x.expand(2, 5, 6).stride() == (0, 1, 5)
    assert x.unfold(0, 2, 1).stride() == (1, 5, 1)


def test_views_with_gaps_and_dims_of_one() -> None:
    columns = torch.empty(3, 3, device="meta").diagonal()[:, None]
    rows = torch.empty_strided((3, 1), (4, 1), device="meta")
    assert (columns.view(1, 3, 1).stride(), columns.view(3).stride()) == ((12, 4, 1), (4,))
    assert (rows.view(1, 3, 1).stride(), rows.view(3, 1, 1).stride()) == ((12, 4, 1), (4, 1, 1))
