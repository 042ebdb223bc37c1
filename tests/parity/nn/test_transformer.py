"""Transformers against PyTorch: the first values, masks of every kind, dropout, warnings, and whole programs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from comparing.against_torch import compare
from comparing.same_text import LIBRARIES, same

draws = np.random.default_rng(11)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return draws.standard_normal(shape)


def warned(case: Callable[[Any], Any]) -> list[str]:
    """What a case warns of in PyTorch, if it warns of the same here."""
    said = []
    for library in LIBRARIES:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            case(library)
        said.append([f"{w.category.__name__}: {w.message}" for w in caught if "prototype stage" not in str(w.message)])
    assert said[0] == said[1]
    return said[0]


OPTIONS: list[dict[str, Any]] = [
    {}, {"batch_first": True}, {"norm_first": True, "batch_first": True}, {"bias": False}, {"activation": "gelu"},
    {"activation": "tanh"}, {"layer_norm_eps": 1e-3}, {"dropout": 0.0}, {"nhead": 1, "batch_first": True}]


def model(t: Any, **options: Any) -> Any:
    t.manual_seed(0)
    named = {"d_model": 8, "nhead": 2, "num_encoder_layers": 2, "num_decoder_layers": 2, "dim_feedforward": 16,
             "dropout": 0.2, **options}
    if named.get("activation") == "tanh":
        named["activation"] = t.tanh
    return t.nn.Transformer(**named).double()


@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_transformers_begin_and_compute_alike(number: int) -> None:
    same(lambda t: model(t, **OPTIONS[number]))

    def case(t: Any, src: Any, tgt: Any) -> Any:
        made = model(t, **OPTIONS[number])
        causal = made.generate_square_subsequent_mask(4, dtype=t.float64)
        padding = t.arange(4).expand(4, 4) > t.tensor([[3], [2], [1], [3]])
        found = [*made.state_dict().values(), made(src, tgt), made(src, tgt, tgt_mask=causal),
                 made(src, tgt, causal, causal, causal, padding, padding, padding),
                 made(src, tgt, src_mask=causal, src_is_causal=True, tgt_mask=causal, tgt_is_causal=True),
                 made(src[0], tgt[1], src_mask=causal)]
        made.eval()
        found += [made(src, tgt, src_key_padding_mask=padding, tgt_mask=causal)]
        with t.no_grad():
            found += [made(src, tgt, src_key_padding_mask=padding, memory_key_padding_mask=padding, tgt_mask=causal),
                      made(src, tgt, causal, causal, src_key_padding_mask=padding), made(src[0], tgt[0])]
        return found

    compare(case, normal(4, 4, 8), normal(4, 4, 8), order=1)


MASKS: dict[str, Callable[[Any], Any]] = {
    "none": lambda t: None, "causal": lambda t: t.nn.Transformer.generate_square_subsequent_mask(3, dtype=t.float64),
    "bools": lambda t: t.ones(3, 3).tril() < 1, "all hidden": lambda t: t.ones(3, 3) > 0,
    "of each head": lambda t: t.arange(36).reshape(4, 3, 3) % 4 == 1,
    "floats": lambda t: -t.arange(36).reshape(4, 3, 3).double() / 9}
PADDINGS: dict[str, Callable[[Any], Any]] = {
    "none": lambda t: None, "at the end": lambda t: t.tensor([[False, False, True], [False, False, False]]),
    "in the middle": lambda t: t.tensor([[False, True, False], [False, False, False]]),
    "whole": lambda t: t.tensor([[True, True, True], [False, False, False]]),
    "floats": lambda t: t.tensor([[0., -1, -2], [0, 0, 0]]).double()}


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("mode", ["training", "evaluation", "no grad"])
def test_masks(mode: str, mask: str, padding: str) -> None:
    """All that a mask may be, where PyTorch has ways of its own without gradients, too."""
    def case(t: Any, x: Any) -> Any:
        t.manual_seed(0)
        layer = t.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).double()
        encoders = [t.nn.TransformerEncoder(layer, 2), t.nn.TransformerEncoder(
            layer, 1, t.nn.LayerNorm(4).double(), mask_check=False)]
        attention = t.nn.MultiheadAttention(4, 2, 0.1, batch_first=True).double()
        for module in (*encoders, layer, attention):
            module.train(mode == "training")
        hides, pads = MASKS[mask](t), PADDINGS[padding](t)
        with t.set_grad_enabled(mode != "no grad"):
            found = [*(e(x, hides, pads) for e in encoders), layer(x, hides, pads),
                     *attention(x, x, x, pads, attn_mask=hides), attention(x, x, x, pads, False, hides)[0],
                     attention(x, x + 1, x + 1, pads, attn_mask=hides)[0]]
            for hooked in (attention, layer, layer.norm1):
                handle = hooked.register_forward_hook(lambda *given: None)
                found += [attention(x, x, x, pads, False, hides)[0], layer(x, hides, pads)]
                handle.remove()
        return found

    compare(case, normal(2, 3, 4), order=1)


@pytest.mark.parametrize("number", range(3))
def test_a_hint_without_a_mask(number: int) -> None:
    def case(t: Any, x: Any) -> Any:
        t.manual_seed(0)
        layer = t.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, activation=[t.relu, "relu", "relu"][number])
        with t.set_grad_enabled(number == 2):
            return layer.double().eval()(x, is_causal=True)

    compare(case, normal(2, 3, 4), order=1)


WARNED: list[Callable[[Any], Any]] = [
    lambda t: t.nn.TransformerEncoder(t.nn.TransformerEncoderLayer(4, 2), 1),
    lambda t: t.nn.TransformerEncoder(t.nn.TransformerEncoderLayer(4, 2, batch_first=True, norm_first=True), 1),
    lambda t: t.nn.TransformerEncoder(t.nn.TransformerEncoderLayer(4, 2, batch_first=True, bias=False), 1),
    lambda t: t.nn.TransformerEncoder(t.nn.TransformerEncoderLayer(4, 2, activation=t.relu, batch_first=True), 1),
    lambda t: t.nn.TransformerEncoder(t.nn.TransformerEncoderLayer(3, 3, batch_first=True), 1),
    lambda t: t.nn.TransformerEncoder(t.nn.TransformerDecoderLayer(4, 2), 1),
    lambda t: t.nn.TransformerEncoder(uneven(t), 1),
    lambda t: t.nn.TransformerEncoderLayer(4, 2)(t.ones(3, 2, 4), t.zeros(3, 3), t.zeros(2, 3) > 0),
    lambda t: t.nn.TransformerEncoder(t.nn.TransformerEncoderLayer(4, 2), 1, None, False)(
        t.ones(3, 2, 4), t.zeros(3, 3) > 0, t.zeros(2, 3)),
    lambda t: t.nn.TransformerDecoderLayer(4, 2)(t.ones(3, 2, 4), t.ones(3, 2, 4), t.zeros(3, 3), None,
                                                 t.zeros(2, 3) > 0),
]


def uneven(t: Any) -> Any:
    layer = t.nn.TransformerEncoderLayer(4, 2, batch_first=True)
    layer.norm2.eps = 1.0
    return layer


@pytest.mark.parametrize("number", range(len(WARNED)))
def test_warnings(number: int) -> None:
    assert len(warned(WARNED[number])) == 1


def test_no_warning() -> None:
    assert warned(lambda t: [t.nn.TransformerEncoder(t.nn.TransformerEncoderLayer(
        4, 2, batch_first=True, activation=a), 1) for a in ("relu", "gelu", t.nn.ReLU(), t.nn.functional.gelu)]) == []


CALLS: list[Callable[[Any], Any]] = [
    lambda t: t.nn.Transformer(4, 3), lambda t: t.nn.TransformerEncoderLayer(4, 2, activation="tanh"),
    lambda t: t.nn.TransformerDecoderLayer(4, 2, dropout=3),
    lambda t: model(t)(t.ones(2, 3, 8), t.ones(2, 4, 8)), lambda t: model(t)(t.ones(2, 3, 8), t.ones(2, 3, 9)),
    lambda t: model(t, batch_first=True)(t.ones(2, 3, 8), t.ones(3, 3, 8)), lambda t: model(t)(t.ones(4), t.ones(5)),
    lambda t: t.nn.TransformerEncoderLayer(4, 2)(t.ones(3, 2, 4), t.ones(3, 3).int()),
    lambda t: t.nn.TransformerEncoderLayer(4, 2)(t.ones(3, 2, 4), None, t.ones(2, 3).int()),
    lambda t: t.nn.TransformerEncoderLayer(4, 2)(t.ones(3, 2, 4), is_causal=True),
    lambda t: t.nn.Transformer.generate_square_subsequent_mask(3),
    lambda t: t.nn.Transformer.generate_square_subsequent_mask(2.5),
    lambda t: [t.nn.TransformerEncoderLayer(4, 2, activation=a).activation_relu_or_gelu for a in (
        "relu", "gelu", t.nn.functional.relu, t.nn.functional.gelu, t.nn.ReLU(), t.nn.GELU(), t.relu, t.tanh)],
    lambda t: [*t.nn.TransformerDecoderLayer(4, 2, activation=t.nn.Tanh()).named_children()],
    lambda t: t.nn.modules.transformer._detect_is_causal_mask(None, None, 3),
    lambda t: [t.nn.modules.transformer._detect_is_causal_mask(
        t.nn.Transformer.generate_square_subsequent_mask(3), *given) for given in ((), (False,), (None, 3), (None, 2))],
    lambda t: [t.nn.modules.transformer._detect_is_causal_mask(t.ones(3, 3), said) for said in (None, True, False)],
    lambda t: [t.nn.modules.transformer._get_seq_len(t.ones(shape), first) for first in (True, False)
               for shape in ((3, 4), (2, 3, 4))],
    lambda t: t.nn.modules.transformer._get_activation_fn("elu"),
    lambda t: t.nn.modules.transformer._get_clones(t.nn.Linear(2, 1), 2),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_calls(number: int) -> None:
    same(CALLS[number])


@pytest.mark.parametrize("number", range(5))
def test_masks_are_merged(number: int) -> None:
    def case(t: Any) -> Any:
        attention = t.nn.MultiheadAttention(4, 2, batch_first=True)
        hides, pads, causal = t.ones(3, 3).tril() < 1, t.tensor([[False, True, True]] * 2), t.ones(3, 3).triu(1) * -9
        masks = [(None, None), (None, pads), (hides, pads), (causal, causal[:2]), (causal.expand(4, 3, 3), None)]
        return attention.merge_masks(*masks[number], t.ones(2, 3, 4))

    same(case)


def language_model(t: Any) -> list[float]:
    """The losses of a decoder of characters: embeddings, a causal encoder with dropout, and a linear head."""
    t.manual_seed(0)

    class Model(t.nn.Module):                                           # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = t.nn.Embedding(11, 16), t.nn.Embedding(8, 16)
            layer = t.nn.TransformerEncoderLayer(16, 4, 32, 0.1, "gelu", batch_first=True, norm_first=True)
            self.encoder = t.nn.TransformerEncoder(layer, 2, t.nn.LayerNorm(16), enable_nested_tensor=False)
            self.head = t.nn.Linear(16, 11)

        def forward(self, ids: Any) -> Any:
            length = ids.shape[1]
            x = self.tokens(ids) + self.places(t.arange(length))
            return self.head(self.encoder(x, t.nn.Transformer.generate_square_subsequent_mask(length), is_causal=True))

    made = Model()
    optimizer = t.optim.AdamW(made.parameters(), lr=3e-3)
    losses = []
    for _ in range(12):
        ids = t.randint(0, 11, (4, 9))
        loss = t.nn.functional.cross_entropy(made(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        t.nn.utils.clip_grad_norm_(made.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def translator(t: Any) -> list[float]:
    """The losses of a whole Transformer that learns to reverse sequences, with padding, and of its evaluation."""
    t.manual_seed(1)
    tokens, head = t.nn.Embedding(9, 16, padding_idx=0), t.nn.Linear(16, 9)
    made = t.nn.Transformer(16, 2, 2, 2, 32, 0.1, batch_first=True)
    parameters = [*tokens.parameters(), *head.parameters(), *made.parameters()]
    optimizer = t.optim.Adam(parameters, lr=1e-3)
    losses = []
    for step in range(10):
        made.train(step < 8)
        src = t.randint(1, 9, (4, 6))
        src[1, 4:] = 0
        tgt = src.flip(1)
        pads = src == 0
        causal = t.nn.Transformer.generate_square_subsequent_mask(5)
        with t.set_grad_enabled(step < 8):
            found = made(tokens(src), tokens(tgt[:, :-1]), tgt_mask=causal, src_key_padding_mask=pads,
                         memory_key_padding_mask=pads)
            loss = t.nn.functional.cross_entropy(head(found).transpose(1, 2), tgt[:, 1:], ignore_index=0)
        if step < 8:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("program", [language_model, translator])
def test_programs_learn_alike(program: Callable[[Any], list[float]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = (program(library) for library in LIBRARIES)
    assert ours == pytest.approx(theirs, rel=2e-5)


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4)])
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", ["TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer",
                                  "MultiheadAttention"])
def test_empty_batches_and_sequences(name: str, training: bool, batch_first: bool, shape: tuple[int, ...]) -> None:
    def told(t: Any) -> Any:
        sizes = {"Transformer": (4, 2, 1, 1, 8), "MultiheadAttention": (4, 2)}.get(name, (4, 2, 8))
        module = getattr(t.nn, name)(*sizes, batch_first=batch_first).train(training)
        x = t.randn(shape, requires_grad=True)
        given = {"TransformerEncoderLayer": 1, "MultiheadAttention": 3}.get(name, 2)
        found = module(*[x] * given)
        found = found if isinstance(found, tuple) else (found,)
        found[0].sum().backward()
        return [tuple(y.shape) for y in found], x.grad.shape, [p.grad for p in module.parameters()]

    same(told)
    same(lambda t: t.nn.MultiheadAttention(4, 2)(*[t.randn(shape)] * 3, need_weights=False)[0].shape)
