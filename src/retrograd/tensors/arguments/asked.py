"""The errors of functions without schemas, for arguments that are missing or that are no tensors.

PyTorch's functions in Python ask something of their arguments before they know that these are tensors. Something that
is no tensor has no such attribute, and the error is the one that Python raises. A note says what the argument must be.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from ...foundations.errors import kind_of, noted
from ..state.base import TensorBase
from .checking import missing

# What the functions of each namespace ask, in their order. `input.size()` calls the method, `input.layout` only reads
# it. A question behind `weight:` is asked if that argument is true, or is no bool and not None.
_ASKED = {
    "nn.functional": """
mse_loss l1_loss huber_loss: target.size() input.size() weight:weight.size()
binary_cross_entropy: target.size() input.size() weight:weight.size()
smooth_l1_loss binary_cross_entropy_with_logits: target.size() input.size()
adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d: input.size()
batch_norm: training:input.size()
instance_norm: use_input_stats:input.size()
embedding: padding_idx:weight.size() max_norm:input.contiguous() max_norm:weight.detach()
embedding_bag: weight.dtype per_sample_weights:input.size() per_sample_weights:per_sample_weights.size() weight.dim() \
input.dim() offsets:offsets.dim()
""",
    "": """
norm: input.layout
split: tensor.split()
""",
}
# The functions outside of `nn.functional` that PyTorch has written in Python. Python's own error says what is missing.
_IN_PYTHON = frozenset((
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors",
    "cartesian_prod", "cdist", "chain_matmul", "eig", "einsum", "lobpcg", "lstsq", "lu", "matrix_rank",
    "meshgrid", "norm", "pad", "pca_lowrank", "set_default_tensor_type", "set_deterministic_debug_mode",
    "set_float32_matmul_precision", "solve", "split", "stft", "svd_lowrank", "symeig", "tensordot", "typename",
    "unique", "unique_consecutive", "unravel_index", "use_deterministic_algorithms", "backward", "dim_order",
    "module_load", "register_hook", "register_post_accumulate_grad_hook", "reinforce", "resize", "resize_as",
    "share_memory_", "storage", "storage_type", "to_sparse_coo"))


class _Question(NamedTuple):
    """An attribute that a function reads of an argument, or calls; `beside` names the argument that makes it ask."""

    argument: str
    attribute: str
    called: bool
    beside: str


@cache
def _questions(space: str) -> dict[str, list[_Question]]:
    """What each function of a namespace asks."""
    found = {}
    for line in _ASKED[space].strip().splitlines():
        names, _, texts = line.partition(": ")
        questions = []
        for text in texts.split():
            beside, _, question = text.rpartition(":")
            argument, _, attribute = question.partition(".")
            questions.append(_Question(argument, attribute.removesuffix("()"), attribute.endswith("()"), beside))
        found.update(dict.fromkeys(names.split(), questions))
    return found


def asked(function: Callable[..., Any], body: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
          ) -> Exception | None:
    """The error for missing arguments, or for the first that lacks what PyTorch's function asks of it; None for others.
    """
    space = "nn.functional" if ".nn.functional." in function.__module__ else ""
    native = ".tensors." in function.__module__ and not space and function.__name__ not in _IN_PYTHON
    if native and (absent := _absent(body, args, kwargs)):
        return missing(function.__name__, absent)
    questions = _questions(space).get(function.__name__)
    if questions is None:
        return None
    try:
        given = inspect.signature(body).bind(*args, **kwargs)
    except TypeError:                                        # arguments are missing, or are too many
        return None
    given.apply_defaults()
    for argument, attribute, called, beside in questions:
        value, other = given.arguments[argument], given.arguments.get(beside, argument)
        if isinstance(value, TensorBase) or other is None or other is False:
            continue
        try:
            found = getattr(value, attribute)
            if called and not callable(found):
                found()
        except (AttributeError, TypeError) as error:
            return noted(error.with_traceback(None), because=f"the argument '{argument}' must be a tensor, not "
                                                             f"{kind_of(value)}")
    return None


def _absent(body: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
    """The names of the parameters that must be given and are not; none if Python has another error for the call."""
    signature = inspect.signature(body)
    try:
        given = signature.bind_partial(*args, **kwargs).arguments
    except TypeError:
        return []
    return [name for name, one in signature.parameters.items() if one.default is one.empty and name not in given
            and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
