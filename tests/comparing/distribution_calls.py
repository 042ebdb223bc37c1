"""Distributions to compare: how each is made, and everything that a program can ask of one.

A line makes one distribution, in Python. `p` makes a parameter that requires grad, `t` a tensor; `f64` is a dtype, and
the names of `torch.distributions`, of its `constraints` and of its transforms stand for themselves. A line of WRONG
raises an error.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

CONTINUOUS = """
Normal(0.0, 1.0)
Normal(p([0.0, 1.0]), p(2.0))
Normal(p([[0.0], [1.0]]), p([2.0, 0.5, 3.0]))
Normal(p([0.0, 1.0], f64), 2)
Normal(0, t(3.0, dtype=f64))
Normal(p([0.0, 1.0]), p(2.0), validate_args=False)
Uniform(0.0, 1.0)
Uniform(p([-1.0, 0.25]), p(2.0))
Uniform(p([[0.0], [-1.0]], f64), p([2.0, 0.5], f64), validate_args=False)
Exponential(1.0)
Exponential(p([0.5, 3.0]))
Exponential(p(2.0, f64))
Laplace(0, 1)
Laplace(p([0.0, -1.0]), p([2.0, 0.5]))
Laplace(p([[0.0], [-1.0]], f64), p([2.0, 0.5], f64))
Cauchy(0.0, 1.0)
Cauchy(p([0.0, -1.0]), p([2.0, 0.5]))
Cauchy(p(0.5, f64), 2.0)
LogNormal(0.0, 1.0)
LogNormal(p([0.0, -1.0]), p(0.5))
LogNormal(p([[0.0], [-1.0]], f64), p([2.0, 0.5], f64))
LogisticNormal(0.0, 1.0)
LogisticNormal(p([0.0, -1.0]), p(0.5))
LogisticNormal(p([[0.0], [-1.0]], f64), p([2.0, 0.5], f64))
HalfNormal(1.0)
HalfNormal(p([0.5, 3.0]))
HalfNormal(p(2.0, f64), validate_args=False)
HalfCauchy(1.0)
HalfCauchy(p([0.5, 3.0]))
HalfCauchy(p(2.0, f64))
Gumbel(0.0, 1.0)
Gumbel(p([0.0, -1.0]), p(0.5))
Gumbel(p([[0.0], [-1.0]], f64), p([2.0, 0.5], f64))
Weibull(1.0, 1.0)
Weibull(p([0.5, 2.0]), p(1.5))
Weibull(p([[0.5], [2.0]], f64), p([2.0, 0.5], f64))
Pareto(1.0, 1.0)
Pareto(p([0.5, 2.0]), p([1.5, 3.0]))
Pareto(p([[0.25], [2.0]], f64), p([2.0, 0.5], f64))
Kumaraswamy(1.0, 1.0)
Kumaraswamy(p([0.5, 2.0]), p([1.5, 3.0]))
Kumaraswamy(p([[0.25], [2.0]], f64), p([2.0, 0.5], f64))
GeneralizedPareto(0.0, 1.0, 0.0)
GeneralizedPareto(p([-1.0, 0.0]), p(2.0), p([0.25, -0.5]))
GeneralizedPareto(p([[-1.0], [0.0]]), p([2.0, 0.5, 1.0]), p([0.0, 1.0, -2.0]))
Independent(Normal(p([0.0, 1.0]), p(2.0)), 1)
Independent(Laplace(p([[0.0], [1.0]], f64), p([2.0, 0.5, 3.0], f64)), 2)
Independent(Normal(p([0.0, 1.0]), 1.0), 0)
Independent(Independent(Normal(t([[0.0, 1.0]]), 1.0), 1), 1, validate_args=False)
TransformedDistribution(Normal(p([0.0, 1.0]), p(2.0)), [])
TransformedDistribution(Normal(p([0.0, 1.0]), p(2.0)), ExpTransform())
TransformedDistribution(Normal(p(0.0), p(1.0)), [AffineTransform(p([1.0, 2.0]), p(-2.0)), SigmoidTransform()])
TransformedDistribution(Uniform(0.0, 1.0), [SigmoidTransform().inv, AffineTransform(loc=p(0.5), scale=p([2.0, 1.0]))])
TransformedDistribution(Normal(p([0.0, 1.0]), p(2.0)), [ExpTransform(cache_size=1)])
TransformedDistribution(Normal(p([[0.0, 1.0]]), 1.0), [TanhTransform(), ReshapeTransform((2,), (2, 1))])
TransformedDistribution(Normal(p([[0.0, 1.0, 0.5]]), 1.0), CorrCholeskyTransform())
TransformedDistribution(Normal(p([0.0, 1.0]), 1.0), StickBreakingTransform(), validate_args=False)
TransformedDistribution(Independent(Normal(p([0.0, 1.0]), 1.0), 1), AffineTransform(0.0, 2.0, event_dim=1))
TransformedDistribution(Normal(p([0.0, 1.0]), 1.0), CumulativeDistributionTransform(Normal(p(1.0), 2.0)))
TransformedDistribution(Normal(p([[0.0, 1.0], [2.0, 0.0]]), 1.0), LowerCholeskyTransform())
TransformedDistribution(Normal(p([0.0, 1.0]), 1.0), [IndependentTransform(SoftplusTransform(), 1)])
"""

WRONG = """
Normal(0.0, -1.0)
Normal(t([0.0, float("nan")]), t(1.0))
Normal(0.0, "a")
Normal(t([0.0, 1.0]), t([1.0, 1.0, 1.0]))
Normal(0.0, 1.0).expand((2,), 3)
Uniform(1.0, 0.0)
Uniform(t([0.0, 1.0]), 1.0)
Exponential(t([1.0, 0.0]))
Distribution().mean
Distribution.set_default_validate_args("no")
Normal(t([0.0, 1.0]), 1.0).expand((3,))
Normal(0.0, 1.0).enumerate_support()
Normal(0.0, 1.0).sample(2.5)
LogNormal(0.0, -1.0)
HalfNormal(-1.0)
HalfCauchy(-1.0)
Gumbel(0.0, -1.0)
Gumbel(t([0.0, 1.0]), t([1.0, 0.0]))
Weibull(1.0, -1.0)
Pareto(1.0, -1.0)
Kumaraswamy(1.0, t([-1.0, 1.0]))
LogisticNormal(0.0, 0.0)
GeneralizedPareto(0.0, -1.0, 1.0)
Independent(Normal(0.0, 1.0), 1)
Independent(Normal(t([0.0, 1.0]), 1.0), 1).enumerate_support()
TransformedDistribution(Normal(0.0, 1.0), 3)
TransformedDistribution(Normal(0.0, 1.0), (ExpTransform(),))
TransformedDistribution(Normal(0.0, 1.0), [ExpTransform(), 3])
TransformedDistribution(Normal(0.0, 1.0), StickBreakingTransform())
Normal(0.0, 1.0).log_prob(t(1.0), 2)
type("Mine", (Normal,), {"__init__": lambda self: Normal.__init__(self, 0.0, 1.0)})().expand((2,))
type("Mine", (LogNormal,), {"__init__": lambda self: LogNormal.__init__(self, 0.0, 1.0)})().expand((2,))
"""


def lines(table: str) -> list[str]:
    """The expressions of a table."""
    return [line for line in table.strip().splitlines() if line]


class Made:
    """One expression, evaluated with one library. `leaves` are its parameters."""

    def __init__(self, library: Any, expression: str) -> None:
        self.library = library
        self.leaves: list[Any] = []
        offered = {name: getattr(library.distributions, name) for name in library.distributions.__all__}
        names = {**offered, "constraints": library.distributions.constraints, "torch": library, "p": self._parameter,
                 "t": library.tensor, "f64": library.float64}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.value = eval(expression, names)
        self.found: dict[str, Any] = {}

    def _parameter(self, data: Any, dtype: Any = None) -> Any:
        self.leaves.append(self.library.tensor(data, dtype=dtype or self.library.float32, requires_grad=True))
        return self.leaves[-1]

    def gradients(self, result: Any) -> list[Any]:
        """The gradients of the sum of a result by the parameters that it depends on."""
        if not self.leaves or not result.requires_grad:
            return []
        return [*self.library.autograd.grad(result.sum(), self.leaves, allow_unused=True, retain_graph=True)]

    def ask(self, name: str, question: Callable[[], Any]) -> Any:
        """Write down an answer, or the error. The answer is returned; None for an error."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = self.found[name] = question()
            except Exception as error:
                self.found[name] = error
                return None
        if isinstance(result, self.library.Tensor):
            self.ask(f"gradients of {name}", lambda: self.gradients(result))
        return result

    def draw(self, name: str, sampler: Callable[..., Any], shape: tuple[int, ...]) -> Any:
        """Write down samples from the start of a stream."""
        self.library.manual_seed(3)
        return self.ask(name, lambda: sampler(self.library.Size(shape)))


ATTRIBUTES = ("mean", "mode", "variance", "stddev", "batch_shape", "event_shape", "has_rsample",
              "has_enumerate_support", "_validate_args")


def outcomes(library: Any, expression: str) -> dict[str, Any]:
    """What a program sees of the distribution that a line makes: by name, a value, a list of values or an error."""
    made = Made(library, expression)
    d, ask, draw = made.value, made.ask, made.draw
    for name in ATTRIBUTES:
        ask(name, lambda name=name: getattr(d, name))
    for name in ("entropy", "perplexity", "__repr__", "enumerate_support"):
        ask(name, lambda name=name: getattr(d, name)())
    ask("support", lambda: repr(d.support))
    ask("class", lambda: [base.__name__ for base in type(d).__mro__ if not base.__name__.startswith("_")])
    ask("constraints", lambda: [(name, repr(constraint)) for name, constraint in d.arg_constraints.items()])
    sample, samples = draw("sample", d.sample, ()), draw("samples", d.sample, (3, 2))
    draw("rsample", d.rsample, (4,))
    ask("state", lambda: library.get_rng_state().sum().item())
    for name, value in (("sample", sample), ("samples", samples)):
        ask(f"log_prob of {name}", lambda value=value: d.log_prob(value))
        ask(f"cdf of {name}", lambda value=value: d.cdf(value))
    chances = library.tensor([0.1, 0.5, 0.9]).reshape((3,) + (1,) * len(d.batch_shape + d.event_shape))
    ask("icdf", lambda: d.icdf(chances))
    for number in (0.5, -0.5, float("nan")):
        ask(f"log_prob of {number}", lambda number=number: d.log_prob(
            library.full(d.batch_shape + d.event_shape, number)))
    ask("cdf of nan", lambda: d.cdf(library.full(d.batch_shape + d.event_shape, float("nan"))))
    ask("log_prob of a wrong shape", lambda: d.log_prob(library.zeros(7, 5, 3)))
    ask("log_prob of a number", lambda: d.log_prob(0.5))
    expanded = ask("expanded", lambda: d.expand((2, *d.batch_shape)))
    if expanded is not None:
        made.found["expanded"] = repr(expanded), expanded._validate_args
        draw("sample of expanded", expanded.sample, (2,))
        ask("entropy of expanded", lambda: expanded.entropy())
        ask("log_prob of expanded", lambda: expanded.log_prob(sample))
    return made.found


def error_of(library: Any, expression: str) -> Exception | None:
    """The error that a line raises, if any."""
    try:
        Made(library, expression)
    except Exception as error:
        return error
    return None
