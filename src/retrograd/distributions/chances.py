"""Distributions whose parameter is given as probabilities or as logits; the other form is computed when it is read."""

from __future__ import annotations

from typing import Any

from retrograd import Size, Tensor

from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


def given(probs: Any, logits: Any) -> tuple[str, Any]:
    """The name and the value of the parameter that is given. Raises ValueError unless it is exactly one."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return ("logits", logits) if probs is None else ("probs", probs)


def batch_of(parameter: Tensor, *values: Any) -> Size:
    """The shape of a batch with this parameter, made from the arguments `values`: numbers make no batch."""
    return Size() if all(isinstance(value, (bool, int, float)) for value in values) else parameter.size()


class _Chances:
    """A distribution, or a part of one, with the attributes `probs` and `logits`, which are log-odds."""

    _of_two = True

    def _take(self, probs: Any, logits: Any) -> Size:
        """Keep the number or the tensor that is given. The result is the shape of the batch."""
        name, value = given(probs, logits)
        (parameter,) = broadcast_all(value)
        setattr(self, name, parameter)
        return batch_of(parameter, value)

    def _take_with_count(self, total_count: Any, probs: Any, logits: Any) -> Size:
        """Keep a number of trials, too, in the dtype and the shape of the parameter."""
        name, value = given(probs, logits)
        count, parameter = broadcast_all(total_count, value)
        self.total_count = count.type_as(parameter)
        setattr(self, name, parameter)
        return parameter.size()

    @lazy_property
    def logits(self) -> Tensor:
        """The log-odds, or the logarithms of the probabilities of several values."""
        return probs_to_logits(self.probs, is_binary=self._of_two)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=self._of_two)

    @lazy_property
    def _param(self) -> Tensor:
        """The parameter in the form that is there."""
        found: Tensor = next(vars(self)[name] for name in ("probs", "logits") if name in vars(self))
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {"_param": self._param, **vars(self)}        # PyTorch reads the attribute of what it loads

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.size()


class _OfBase:
    """A transformed distribution with the parameters of its base."""

    base_dist: Any

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """The logarithms of the odds, or of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self.base_dist.probs


class _OfCategorical:
    """A distribution with the parameter of the Categorical in its attribute `_categorical`."""

    _categorical: Any

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        made: Tensor = self._categorical._new(*args, **kwargs)
        return made

    @property
    def probs(self) -> Tensor:
        """The probabilities of the categories, along the last dimension."""
        found: Tensor = self._categorical.probs
        return found

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        found: Tensor = self._categorical.logits
        return found

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        found: Size = self._categorical.param_shape
        return found
