"""Recurrent networks and packed sequences: facts recorded from PyTorch, and properties."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd import nn
from retrograd.nn.utils import rnn

# What PyTorch computes with seed 0: the outputs of two layers in both directions, with dropout between the layers, and
# sums of two gradients.
RECORDED = {
    "LSTM": ([-0.181378, 0.025642, 0.117447, -0.213515, -0.203621, -0.153007, -0.244411, 0.062905, 0.20718, -0.149578,
              -0.185721, -0.104941], -0.025231, -0.075572),
    "GRU": ([-0.077202, -0.023302, -0.038246, 0.237903, -0.262987, 0.16334, -0.181514, 0.043603, -0.199426, 0.282946,
             -0.230392, 0.134039], -0.137051, 2.876016),
    "RNN": ([0.890188, 0.371648, -0.270334, -0.163825, -0.669085, -0.807566, 0.96125, 0.787482, 0.491598, -0.969413,
             -0.982692, -0.852127], 0.042239, 2.115839),
}
NETWORKS = tuple(RECORDED)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_seed_gives_the_numbers_of_pytorch(name: str) -> None:
    torch.manual_seed(0)
    network = getattr(nn, name)(2, 3, num_layers=2, bidirectional=True, dropout=0.5)
    out, _ = network(torch.tensor([[[1.0, -1.0]], [[0.5, 2.0]]]))
    out.sum().backward()
    values, first, second = RECORDED[name]
    np.testing.assert_allclose(out.flatten().tolist(), values, atol=2e-6)
    np.testing.assert_allclose(network.weight_hh_l0.grad.sum().item(), first, atol=1e-5)
    np.testing.assert_allclose(network.bias_ih_l1_reverse.grad.sum().item(), second, atol=1e-5)


def test_a_layer_is_one_node() -> None:
    out, (hidden, _) = nn.LSTM(2, 3)(torch.zeros(7, 1, 2))
    node = out.grad_fn
    assert type(node).__name__ == "MkldnnRnnLayerBackward0"
    assert len(node.next_functions) == 7
    assert [(other is node, place) for other, place in hidden.grad_fn.next_functions] == [(True, 1)]
    stacked = nn.GRU(2, 3, num_layers=2)(torch.zeros(7, 1, 2))[0].grad_fn
    assert [type(n).__name__ for n in (stacked, stacked.next_functions[0][0])] == ["GruBackward0"] * 2


@pytest.mark.parametrize(("name", "cell"), [("LSTM", "LSTMCell"), ("GRU", "GRUCell"), ("RNN", "RNNCell")])
def test_a_layer_is_its_cell_at_each_step(name: str, cell: str) -> None:
    torch.manual_seed(1)
    network, one = getattr(nn, name)(2, 3).double(), getattr(nn, cell)(2, 3).double()
    one.load_state_dict({key.removesuffix("_l0"): value for key, value in network.state_dict().items()})
    x = torch.randn(5, 4, 2, dtype=torch.float64)
    state: Any = None
    outputs = []
    for row in x:
        state = one(row, state)
        outputs.append(state[0] if name == "LSTM" else state)
    ours, theirs = network(x)[0], torch.stack(outputs)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-13)
    for loss in (ours, theirs):
        loss.sin().sum().backward()
    for key, parameter in one.named_parameters():
        np.testing.assert_allclose(getattr(network, f"{key}_l0").grad.numpy(), parameter.grad.numpy(), rtol=1e-11)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("both", [False, True])
def test_a_packed_sequence_is_computed_as_if_it_stood_alone(name: str, both: bool) -> None:
    torch.manual_seed(2)
    network = getattr(nn, name)(2, 3, num_layers=2, bidirectional=both).double()
    sequences = [torch.randn(n, 2, dtype=torch.float64) for n in (2, 5, 1)]
    outputs, last = network(rnn.pack_sequence(sequences, enforce_sorted=False))
    for place, (sequence, packed) in enumerate(zip(sequences, rnn.unpack_sequence(outputs), strict=True)):
        alone, end = network(sequence)
        np.testing.assert_allclose(packed.detach().numpy(), alone.detach().numpy(), rtol=1e-12)
        for states, state in zip(last if name == "LSTM" else (last,), end if name == "LSTM" else (end,), strict=True):
            np.testing.assert_allclose(states[:, place].detach().numpy(), state.detach().numpy(), rtol=1e-12)


def test_second_derivatives_go_through_a_network() -> None:
    torch.manual_seed(3)
    network = nn.LSTM(2, 3, proj_size=2, bidirectional=True).double()
    x = torch.randn(4, 2, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: network(x)[0], (x,))


@pytest.mark.parametrize("name", NETWORKS)
def test_only_gradients_that_are_asked_for_are_returned(name: str) -> None:
    network = getattr(nn, name)(2, 3)
    x = torch.ones(2, 1, 2, requires_grad=True)
    out, _ = network(x)
    (by_bias,) = torch.autograd.grad(out.sum(), [network.bias_hh_l0], retain_graph=True)
    out.sum().backward()
    assert network.bias_hh_l0.grad.tolist() == by_bias.tolist()
    assert x.grad is not None
    network.requires_grad_(False)
    out, _ = network(x)
    out.sum().backward()
    assert network.bias_hh_l0.grad.tolist() == by_bias.tolist()


def test_a_weight_must_not_be_written_before_the_backward_pass() -> None:
    network = nn.GRU(2, 3)
    out, _ = network(torch.ones(2, 1, 2))
    with torch.no_grad():
        network.weight_hh_l0.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


@pytest.mark.parametrize("name", NETWORKS)
def test_the_outputs_of_one_sequence_share_no_memory_with_what_is_saved(name: str) -> None:
    network, gradients = getattr(nn, name)(2, 3), []
    for write in (False, True):
        network.zero_grad()
        out, _ = network(torch.ones(4, 1, 2))
        loss = (out * 1).sum()
        if write:
            out.detach().zero_()
        loss.backward()
        gradients.append(network.weight_hh_l0.grad.tolist())
    assert gradients[0] == gradients[1]


def test_a_batch_may_be_empty() -> None:
    for name in NETWORKS:
        network = getattr(nn, name)(2, 3)
        network(torch.zeros(4, 0, 2))[0].sum().backward()
        assert network.weight_hh_l0.grad.abs().sum() == 0


@pytest.mark.parametrize("batch", [1, 3])
def test_a_network_with_large_weights_is_its_cell_at_each_step(batch: int) -> None:
    """The products of the inputs of large weights are made before the steps."""
    torch.manual_seed(5)
    network, one = nn.LSTM(40, 200).double(), nn.LSTMCell(40, 200).double()
    one.load_state_dict({key.removesuffix("_l0"): value for key, value in network.state_dict().items()})
    x = torch.randn(3, batch, 40, dtype=torch.float64)
    state, outputs = None, []
    for row in x:
        state = one(row, state)
        outputs.append(state[0])
    np.testing.assert_allclose(network(x)[0].detach().numpy(), torch.stack(outputs).detach().numpy(), rtol=1e-11)


def test_float16_is_computed_in_float32() -> None:
    torch.manual_seed(4)
    network = nn.GRU(2, 3)
    x = torch.randn(4, 2, 2).half()
    halved = copy.deepcopy(network).half()
    out = halved(x)[0]
    expected = network.half().float()(x.float())[0]
    assert out.dtype is torch.float16
    assert out.tolist() == expected.half().tolist()
    out.sum().backward()
    assert halved.weight_hh_l0.grad.dtype is torch.float16


# The modules

def test_names_text_and_weights() -> None:
    network = nn.LSTM(3, 4, 2, bias=False, batch_first=True, dropout=0.5, bidirectional=True, proj_size=2)
    assert repr(network) == ("LSTM(3, 4, proj_size=2, num_layers=2, bias=False, batch_first=True, dropout=0.5, "
                             "bidirectional=True)")
    assert [*network.state_dict()][:6] == ["weight_ih_l0", "weight_hh_l0", "weight_hr_l0", "weight_ih_l0_reverse",
                                           "weight_hh_l0_reverse", "weight_hr_l0_reverse"]
    assert [tuple(weight.shape) for weight in network.all_weights[2]] == [(16, 4), (16, 2), (2, 4)]
    assert repr(nn.RNNCell(3, 4, False, "relu")) == "RNNCell(3, 4, bias=False, nonlinearity=relu)"


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda network: pickle.loads(pickle.dumps(network))])
def test_a_copy_computes_with_its_own_weights(duplicate: Callable[[Any], Any]) -> None:
    network = nn.LSTM(2, 3)
    other = duplicate(network)
    x = torch.ones(2, 1, 2)
    assert other(x)[0].tolist() == network(x)[0].tolist()
    with torch.no_grad():
        other.weight_ih_l0.zero_()
    assert other(x)[0].tolist() != network(x)[0].tolist()
    assert not other._weights_have_changed()


def test_a_weight_that_is_replaced_counts() -> None:
    network = nn.RNN(2, 3, bias=False)
    network.weight_ih_l0 = nn.Parameter(torch.zeros(3, 2))
    assert network(torch.ones(4, 1, 2))[0].tolist() == torch.zeros(4, 1, 3).tolist()
    assert network.double()(torch.ones(1, 1, 2).double())[0].dtype is torch.float64


def test_loaded_weights_count() -> None:
    network, other = nn.GRU(2, 3), nn.GRU(2, 3)
    other.load_state_dict(network.state_dict(), assign=True)
    x = torch.ones(4, 1, 2)
    assert other(x)[0].tolist() == network(x)[0].tolist()
    assert other._flat_weights[0] is other.weight_ih_l0


def test_dropout_without_a_second_layer_warns() -> None:
    with pytest.warns(UserWarning, match="non-zero dropout expects num_layers greater than 1"):
        nn.GRU(2, 3, dropout=0.5)


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: nn.LSTM(3, 4.0), TypeError, "hidden_size should be of type int, got: float"),
    (lambda: nn.LSTM(3, 4, 0), ValueError, "num_layers must be greater than zero"),
    (lambda: nn.LSTM(3, 4, dropout=2), ValueError, "dropout should be a number in range [0, 1]"),
    (lambda: nn.LSTM(3, 4, proj_size=4), ValueError, "proj_size has to be smaller than hidden_size"),
    (lambda: nn.GRU(3, 4, proj_size=2), ValueError, "proj_size argument is only supported for LSTM"),
    (lambda: nn.RNN(3, 4, nonlinearity="x"), ValueError, "Unknown nonlinearity 'x'. Select from 'tanh' or 'relu'."),
    (lambda: nn.RNNBase("X", 3, 4), ValueError, "Unrecognized RNN mode: X"),
    (lambda: nn.LSTM(3, 4)(torch.zeros(3)), ValueError, "LSTM: Expected input to be 2D or 3D, got 1D instead"),
    (lambda: nn.GRU(3, 4)(torch.zeros(2, 2, 5)), RuntimeError, "input.size(-1) must be equal to input_size."),
    (lambda: nn.GRU(3, 4)(torch.zeros(0, 2, 3)), RuntimeError, "Expected sequence length to be larger than 0 in RNN"),
    (lambda: nn.GRU(3, 4)(torch.zeros(2, 2, 3).double()), ValueError, "RNN input dtype (torch.float64) does not match"),
    (lambda: nn.GRU(3, 4)(torch.zeros(2, 2, 3), torch.zeros(1, 2, 5)), RuntimeError,
     "Expected hidden size (1, 2, 4), got [1, 2, 5]"),
    (lambda: nn.LSTM(3, 4)(torch.zeros(2, 2, 3), (torch.zeros(1, 2, 4), torch.zeros(1, 4))), RuntimeError,
     "For batched 3-D input, hx and cx should also be 3-D but got (3-D, 2-D) tensors"),
    (lambda: nn.GRU(3, 4)(torch.zeros(2, 3), torch.zeros(1, 1, 4)), RuntimeError,
     "For unbatched 2-D input, hx should also be 2-D but got 3-D tensor"),
    (lambda: nn.LSTMCell(3, 4)(torch.zeros(2, 5)), RuntimeError, "input has inconsistent input_size: got 5 expected 3"),
    (lambda: nn.GRUCell(3, 4)(torch.zeros(2, 3), torch.zeros(3, 4)), RuntimeError,
     "Input batch size 2 doesn't match hidden0 batch size 3"),
    (lambda: torch.lstm(torch.zeros(1, 1, 2), [torch.zeros(1, 1, 3)], [], False, 1, 0.0, False, False, False),
     RuntimeError, "lstm expects two hidden states"),
    (lambda: torch.gru(torch.zeros(1, 1, 2), torch.zeros(1, 1, 3), [torch.zeros(9, 2)], False, 1, 0.0, False, False,
                       False), RuntimeError, "got an incorrect number of RNN parameters"),
    (lambda: rnn.pack_padded_sequence(torch.zeros(3, 2), [1, 2]), RuntimeError,
     "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True."),
    (lambda: rnn.pack_padded_sequence(torch.zeros(3, 2), [2, 0]), RuntimeError,
     "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"),
    (lambda: rnn.pack_padded_sequence(torch.zeros(3, 2), [4, 1]), RuntimeError, "Expected lengths of at most 3"),
    (lambda: rnn.pad_packed_sequence(rnn.pack_sequence([torch.zeros(3)]), total_length=2), ValueError,
     "Expected total_length to be at least the length of the longest sequence in input, but got total_length=2 and"),
    (lambda: rnn.pad_sequence([]), RuntimeError, "received an empty list of sequences"),
    (lambda: torch.gru(torch.zeros(3, 2), torch.tensor([1, 2]), torch.zeros(1, 2, 3), [
        torch.zeros(9, 2), torch.zeros(9, 3)], False, 1, 0.0, False, False), RuntimeError,
     "Expected batch_sizes to be positive"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_errors_begin_as_in_pytorch(number: int) -> None:
    call, kind, text = WRONG[number]
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value).startswith(text)


# Packed sequences

def test_packing_and_padding_undo_each_other() -> None:
    x = torch.arange(24.0).reshape(2, 4, 3).requires_grad_()
    packed = rnn.pack_padded_sequence(x, [2, 4], batch_first=True, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [2, 2, 1, 1]
    assert packed.sorted_indices is not None
    assert packed.sorted_indices.tolist() == [1, 0]
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1.0, total_length=5)
    assert lengths.tolist() == [2, 4]
    assert padded.shape == (2, 5, 3)
    assert padded[0, 2:].tolist() == torch.full((3, 3), -1.0).tolist()
    padded.sum().backward()
    assert x.grad is not None
    assert x.grad[:, :, 0].tolist() == [[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]


def test_a_packed_sequence_is_converted_whole() -> None:
    packed = rnn.pack_sequence([torch.tensor([1.0, 2.0]), torch.tensor([3.0])])
    assert packed.to(torch.float32) is packed
    assert packed.cpu() is packed
    assert packed.double().data.dtype is torch.float64
    assert packed.long().batch_sizes.tolist() == [2, 1]
    assert (packed.is_cuda, packed.is_pinned()) == (False, False)
    again = pickle.loads(pickle.dumps(packed))
    assert type(again) is rnn.PackedSequence
    assert again.data.tolist() == [1.0, 3.0, 2.0]


def test_padding_goes_to_either_side() -> None:
    sequences = [torch.tensor([1, 2]), torch.tensor([3])]
    assert rnn.pad_sequence(sequences, padding_value=9).tolist() == [[1, 3], [2, 9]]
    assert rnn.pad_sequence(sequences, True, padding_side="left").tolist() == [[1, 2], [0, 3]]
    assert [s.tolist() for s in rnn.unpad_sequence(
        torch.tensor([[1, 2], [3, 0]]), torch.tensor([2, 1]), True)] == [[1, 2], [3]]
