"""Objects that a program may save whole: how each is made, and what is asked of the object that was loaded.

`T` is the library. A class is saved by its name, an instance with its attributes, so both must be PyTorch's.
"""

from __future__ import annotations

from typing import Any

DISTRIBUTIONS = """
Bernoulli(T.tensor([0.3]))
Beta(1.0, 2.0)
Binomial(3, T.tensor([0.2]))
Categorical(T.tensor([0.2, 0.8]))
Categorical(logits=T.tensor([0.2, 0.8]))
Cauchy(0.0, 1.0)
Chi2(1.0)
ContinuousBernoulli(0.2)
Dirichlet(T.ones(3))
Exponential(1.0)
FisherSnedecor(1.0, 2.0)
Gamma(1.0, 2.0)
GeneralizedPareto(0.0, 1.0, 0.2)
Geometric(0.3)
HalfCauchy(1.0)
HalfNormal(1.0)
Independent(Normal(T.zeros(2), 1.0), 1)
InverseGamma(1.0, 2.0)
Kumaraswamy(1.0, 2.0)
LKJCholesky(3)
Laplace(0.0, 1.0)
LogNormal(0.0, 1.0)
LogisticNormal(T.zeros(2), T.ones(2))
LowRankMultivariateNormal(T.zeros(2), T.ones(2, 1), T.ones(2))
MixtureSameFamily(Categorical(T.ones(2)), Normal(T.zeros(2), 1.0))
Multinomial(3, T.ones(2))
MultivariateNormal(T.zeros(2), T.eye(2))
NegativeBinomial(3, T.tensor(0.2))
Normal(0.0, 1.0)
OneHotCategorical(T.ones(2))
OneHotCategoricalStraightThrough(T.ones(2))
Pareto(1.0, 2.0)
Poisson(1.0)
RelaxedBernoulli(T.tensor(1.0), 0.3)
RelaxedOneHotCategorical(T.tensor(1.0), T.ones(2))
StudentT(2.0)
TransformedDistribution(Normal(0.0, 1.0), [ExpTransform(), AffineTransform(1.0, 2.0)])
Uniform(0.0, 1.0)
VonMises(0.0, 1.0)
Weibull(1.0, 2.0)
Wishart(3.0, T.eye(2))
"""

TRANSFORMS = """
AbsTransform()
AffineTransform(1.0, 2.0)
CatTransform([ExpTransform()], lengths=[3])
ComposeTransform([ExpTransform(), TanhTransform()])
CumulativeDistributionTransform(Normal(0.0, 1.0))
ExpTransform(1)
IndependentTransform(ExpTransform(), 1)
LowerCholeskyTransform()
PowerTransform(T.tensor(2.0))
SigmoidTransform()
SoftmaxTransform()
SoftplusTransform()
StackTransform([ExpTransform(), TanhTransform(), AbsTransform()])
StickBreakingTransform()
TanhTransform()
"""

CONSTRAINTS = """
boolean
cat([constraints.real], lengths=[3])
corr_cholesky
greater_than(0.5)
greater_than_eq(0.5)
half_open_interval(0.2, 0.5)
independent(constraints.positive, 1)
integer_interval(0, 3)
interval(0.2, 0.5)
less_than(0.5)
lower_cholesky
lower_triangular
multinomial
nonnegative
nonnegative_integer
one_hot
positive
positive_definite
positive_integer
positive_semidefinite
real
real_vector
simplex
square
stack([constraints.real, constraints.positive, constraints.unit_interval])
symmetric
unit_interval
"""

SCHEDULES = """
StepLR(o, 2)
MultiStepLR(o, [1, 4])
ConstantLR(o)
LinearLR(o)
ExponentialLR(o, 0.9)
PolynomialLR(o)
CosineAnnealingLR(o, 5)
CosineAnnealingWarmRestarts(o, 3)
CyclicLR(o, 0.1, 1.0, 3)
CyclicLR(o, 0.1, 1.0, 3, mode="triangular2")
CyclicLR(o, 0.1, 1.0, 3, mode="exp_range", gamma=0.5)
OneCycleLR(o, 1.0, 12)
OneCycleLR(o, 1.0, 12, three_phase=True, anneal_strategy="linear")
SequentialLR(o, [ConstantLR(o), ExponentialLR(o, 0.9)], [3])
ChainedScheduler([ConstantLR(o), ExponentialLR(o, 0.9)])
LambdaLR(o, Factor())
MultiplicativeLR(o, Factor())
SWALR(o, 0.05)
SWALR(o, 0.05, anneal_strategy="linear")
"""

OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "Rprop", "ASGD",
              "LBFGS", "Adafactor", "Muon")


class Factor:
    """A function of the epoch that can be saved."""

    def __call__(self, epoch: int) -> float:
        return 0.9 ** epoch


def names(T: Any) -> dict[str, Any]:
    """What the lines name."""
    return {"T": T, "Factor": Factor, "constraints": T.distributions.constraints, "SWALR": T.optim.swa_utils.SWALR,
            **vars(T.optim.lr_scheduler), **{name: getattr(T.distributions, name) for name in T.distributions.__all__}}


def optimizer(T: Any, name: str = "SGD", **options: Any) -> Any:
    """An optimizer of one matrix, after two steps."""
    made = getattr(T.optim, name)([T.nn.Parameter(T.full((2, 3), 0.5))], **options)
    for _ in range(2):
        step(made)
    return made


def step(made: Any) -> None:
    """A step towards zero."""
    (p,) = made.param_groups[0]["params"]

    def closure() -> Any:
        made.zero_grad()
        loss = (p ** 2).sum()
        loss.backward()
        return loss

    made.step(closure)


def schedule(T: Any, line: str) -> Any:
    """A schedule after two steps."""
    made = eval(line, {**names(T), "o": optimizer(T, lr=0.5, momentum=0.9)})
    made.step()
    made.step()
    return made


def asked_of_distribution(T: Any, made: Any) -> list[Any]:
    """Numbers, results and properties."""
    T.manual_seed(1)
    drawn = made.sample((2,))
    found = [drawn, made.log_prob(drawn), repr(made), made.batch_shape, made.expand((3, *made.batch_shape)).sample()]
    return found + [_result(ask) for ask in (
        lambda: made.mean, lambda: made.variance, lambda: made.mode, lambda: made.entropy(), lambda: made.perplexity(),
        lambda: made.enumerate_support(), lambda: made.cdf(drawn), lambda: made.rsample(), lambda: made.support)]


def asked_of_transform(T: Any, made: Any) -> list[Any]:
    """Values there and back, logarithms of derivatives, properties."""
    x = T.arange(9.0).reshape(3, 3) / 10 + 0.1
    return [repr(made)] + [_result(ask) for ask in (
        lambda: made(x), lambda: made.inv(made(x)), lambda: made.log_abs_det_jacobian(x, made(x)), lambda: made.domain,
        lambda: made.codomain, lambda: made.forward_shape((3, 3)), lambda: made.inverse_shape((3, 3)))]


def asked_of_constraint(T: Any, made: Any) -> list[Any]:
    """What is inside of the region."""
    x = T.arange(9.0).reshape(3, 3) / 10
    return [repr(made), made.event_dim, made.is_discrete] + [
        _result(lambda each=each: made.check(each)) for each in (x, T.eye(3), x - 1)]


def asked_of_schedule(T: Any, made: Any) -> list[Any]:
    """The rates of more steps, and the state."""
    found = []
    for _ in range(4):
        step(made.optimizer)
        made.step()
        found.append([made.get_last_lr(), made.optimizer.param_groups[0]["momentum"]])
    return [*found, made.state_dict()]


def asked_of_optimizer(T: Any, made: Any) -> list[Any]:
    """The parameter after more steps, and the state."""
    step(made)
    step(made)
    return [made.param_groups[0]["params"], made.state_dict()["state"], repr(made)]


def _result(ask: Any) -> Any:
    try:
        return ask()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


KINDS: dict[str, Any] = {
    "distribution": (DISTRIBUTIONS, lambda T, line: eval(line, names(T)), asked_of_distribution),
    "transform": (TRANSFORMS, lambda T, line: eval(line, names(T)), asked_of_transform),
    "constraint": (CONSTRAINTS, lambda T, line: eval(f"constraints.{line}", names(T)), asked_of_constraint),
    "schedule": (SCHEDULES, schedule, asked_of_schedule),
    "optimizer": ("\n".join(OPTIMIZERS), optimizer, asked_of_optimizer)}
CASES = [(kind, line) for kind, (lines, _, _) in KINDS.items() for line in lines.strip().splitlines()]
