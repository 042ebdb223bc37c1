"""Transformers: numbers recorded from PyTorch, and what masks do."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import retrograd as torch
from retrograd import nn


def model(**options: Any) -> Any:
    torch.manual_seed(0)
    return nn.Transformer(4, 2, 1, 1, 8, dropout=0.25, batch_first=True, **options)


X = torch.arange(24.0).reshape(2, 3, 4) / 10
PADDING = torch.tensor([[False, False, True], [False, False, False]])


def close(found: Any, expected: list[float]) -> None:
    assert found.flatten().tolist() == pytest.approx(expected, abs=2e-6)


def test_numbers_recorded_from_pytorch() -> None:
    made = model()
    close(made(X, X.flip(1)).flatten()[:6], [-1.5238146, 0.6872981, -0.2358407, 1.0723572, 0.2069357, -0.8975127])
    made.eval()
    close(made.encoder(X, src_key_padding_mask=PADDING)[0, 2], [1.4869678, -1.0437783, -0.7698672, 0.3266775])


def test_padded_places_are_zeros_where_pytorch_leaves_them_out() -> None:
    encoder = model().eval().encoder
    with torch.no_grad():
        found = encoder(X, src_key_padding_mask=PADDING)
        assert encoder(X, src_key_padding_mask=PADDING.flip(1))[0, 0].abs().sum() > 0       # not at the end
    close(found[0, :2], [1.4864784, -1.0576794, -0.7527871, 0.323988, 1.486556, -1.0506849, -0.7616179, 0.325747])
    assert found[0, 2].tolist() == [0.0] * 4
    assert encoder(X, src_key_padding_mask=PADDING)[0, 2].abs().sum() > 0                   # gradients are recorded
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.no_grad():
            assert encoder(X, src_key_padding_mask=PADDING)[0, 2].abs().sum() > 0
    finally:
        torch.backends.mha.set_fastpath_enabled(True)


def test_a_mask_of_numbers_in_a_layer() -> None:
    layer, mask = model().eval().encoder.layers[0], torch.tensor([[0.0, -1.0, -2.0]] * 3)
    close(layer(X, mask)[0, 0], [1.4813956, -1.0380533, -0.7827522, 0.3394098])
    with torch.no_grad():                                              # every number but 0 hides, as in PyTorch
        close(layer(X, mask)[0, 0], [1.3998172, -0.9506679, -0.9442426, 0.4950933])


def test_a_causal_encoder_does_not_look_ahead() -> None:
    encoder, mask = model().eval().encoder, nn.Transformer.generate_square_subsequent_mask(3)
    other = torch.cat([X[:, :2], X[:, 2:] + 1], 1)
    for options in ({}, {"is_causal": True}):
        assert encoder(X, mask, **options)[:, :2].equal(encoder(other, mask, **options)[:, :2])
    assert not encoder(X)[:, :2].equal(encoder(other)[:, :2])


def test_clones_share_nothing() -> None:
    layer = nn.TransformerDecoderLayer(4, 2, 8)
    decoder = nn.TransformerDecoder(layer, 2)
    first, second = decoder.layers
    first.linear1.bias.data.zero_()
    assert second.linear1.bias.equal(layer.linear1.bias)
    assert not first.linear1.bias.equal(layer.linear1.bias)


def test_custom_halves() -> None:
    class Half(nn.Module):
        def forward(self, first: Any, *others: Any, **options: Any) -> Any:
            return first + len(others)

    made = nn.Transformer(4, 2, custom_encoder=Half(), custom_decoder=Half())
    assert made(X, X).equal(X + 1)


def test_a_saved_state_fits_a_copy() -> None:
    made = model()
    other = copy.deepcopy(made)
    for parameter in other.parameters():
        parameter.data.zero_()
    assert str(other.load_state_dict(made.state_dict())) == "<All keys matched successfully>"
    assert other.eval()(X, X).equal(made.eval()(X, X))


def test_gradients_are_exact() -> None:
    layer = nn.TransformerDecoderLayer(4, 2, 4, 0.0, nn.functional.gelu, batch_first=True, dtype=torch.float64)
    x = torch.randn(1, 2, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    mask = nn.Transformer.generate_square_subsequent_mask(2, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x, y: layer(x, y, mask), (x, x.detach().flip(1).requires_grad_()))


# A masked key is as if it were not there: each padding is at the end of a sequence, which may be cut off instead.


def test_a_padded_target_is_as_a_shorter_one() -> None:
    made = model().eval()
    hidden = torch.tensor([[False, False, True]] * 2)
    whole = made(X, X.flip(1), tgt_key_padding_mask=hidden)[:, :2]
    assert torch.allclose(whole, made(X, X.flip(1)[:, :2]), atol=1e-6)
    assert not torch.allclose(whole, made(X, X.flip(1))[:, :2], atol=1e-4)


def test_a_padded_memory_is_as_a_shorter_one() -> None:
    made = model().eval()
    hidden = torch.tensor([[False, False, True]] * 2)
    whole = made.decoder(X, X.flip(1), memory_key_padding_mask=hidden)
    assert torch.allclose(whole, made.decoder(X, X.flip(1)[:, :2]), atol=1e-6)
    assert not torch.allclose(whole, made.decoder(X, X.flip(1)), atol=1e-4)


def test_masks_of_positions_hide_as_masks_of_keys_do() -> None:
    made = model().eval()
    hidden = torch.tensor([[False, False, True]] * 3)
    for name in ("tgt_mask", "memory_mask"):
        keys = {"tgt_mask": "tgt_key_padding_mask", "memory_mask": "memory_key_padding_mask"}[name]
        by_position = made.decoder(X, X.flip(1), **{name: hidden})
        by_key = made.decoder(X, X.flip(1), **{keys: hidden[:2]})
        assert torch.allclose(by_position[:, :2], by_key[:, :2], atol=1e-6)


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("each", [False, True])
def test_two_masks_become_one(heads: int, each: bool) -> None:
    layer = nn.MultiheadAttention(4, heads, batch_first=True)
    keys = torch.tensor([[0.0, 0.0, -1.0], [0.0, -2.0, 0.0], [0.0, 0.0, 0.0]])
    positions = torch.arange(9.0).reshape(3, 3)
    if each:
        positions = positions + 100 * torch.arange(3.0 * heads)[:, None, None]
    merged, kind = layer.merge_masks(positions, keys, torch.zeros(3, 3, 4))
    assert (kind, tuple(merged.shape)) == (2, (3, heads, 3, 3))
    for sample in range(3):
        for head in range(heads):
            own = positions[sample * heads + head] if each else positions
            assert torch.equal(merged[sample, head], own + keys[sample])
