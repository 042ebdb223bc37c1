"""Which composed functions a profile shows, and by which names: those of PyTorch 2.13."""

import pytest

import retrograd as torch
from retrograd.autograd.profiler import profile, record_function
from retrograd.utils.flop_counter import FlopCounterMode

functional = torch.nn.functional

# The functions that PyTorch composes of others, or that make tensors, and that its profile shows by their own names.
# Where the name of the method or function is another, it stands after the equals sign.
COMPOSED = """
    matmul matmul=__matmul__ reshape reshape_as view_as expand_as flatten unflatten ravel contiguous to item detach
    outer inner tensordot einsum chain_matmul chunk tensor_split hsplit vsplit hstack vstack dstack column_stack
    diff gradient trapezoid trapz cumulative_trapezoid quantile nanquantile nanmean sum_to_size histogramdd
    take_along_dim ones zeros empty full eye ones_like zeros_like empty_like full_like new_zeros new_ones new_empty
    new_full scalar_tensor arange linspace logspace rand randn randint randperm rand_like randn_like randint_like
    linear bilinear dropout mse_loss l1_loss smooth_l1_loss huber_loss kl_div binary_cross_entropy
    binary_cross_entropy_with_logits cross_entropy_loss=cross_entropy nll_loss_nd=nll_loss cosine_similarity
    pairwise_distance one_hot"""


@pytest.mark.parametrize("entry", COMPOSED.split())
def test_composed_functions_have_an_event(entry: str) -> None:
    shown, _, name = entry.partition("=")
    functions = [getattr(place, name or shown) for place in (torch.Tensor, torch, functional)
                 if hasattr(place, name or shown)]
    assert f"aten::{shown}" in [function.public.event for function in functions]


def test_a_block_with_a_name_inside_of_a_counter_of_operations() -> None:
    with profile() as prof, FlopCounterMode(display=False) as counter, record_function("block"):
        torch.ones(2, 3) @ torch.ones(3, 4)
    assert counter.get_total_flops() == 48
    assert [event.scope for event in prof.function_events if event.name == "block"] == [7]
