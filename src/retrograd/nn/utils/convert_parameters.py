"""torch.nn.utils.convert_parameters: all parameters of a model as one vector."""

from __future__ import annotations

from collections.abc import Iterable

from ...tensors.functions.shapes.joining import cat
from ...tensors.state.base import TensorBase
from ...tensors.tensor import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of the parameters, in order, as one vector. The result has derivatives.

    >>> import retrograd as torch
    >>> torch.nn.utils.parameters_to_vector([torch.tensor([[1., 2.]]), torch.tensor([3.])])
    tensor([1., 2., 3.])

    Raises ValueError if there are no parameters.
    """
    vectors = [parameter.reshape(-1) for parameter in parameters]
    if not vectors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    joined: Tensor = cat(vectors)
    return joined


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make the parameters, in order, pieces of a vector. They share the vector's memory from then on.

    Raises TypeError if `vec` is not a tensor, RuntimeError if it is too short.
    """
    if not isinstance(vec, TensorBase):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start, pieces = 0, []
    for parameter in parameters:
        end = start + parameter.numel()
        pieces.append((parameter, vec[start:end].view(parameter.shape).data))
        start = end
    for parameter, piece in pieces:                     # only after all pieces were found to fit
        parameter.data = piece
