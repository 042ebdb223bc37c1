"""What an operator is: a kernel, a name, and one derivative rule for each differentiable argument.

A rule is an ordinary function of the cotangent and of what it names: an input (`x`), the result (`out`), an
input's shape or dtype (`x_shape`, `x_dtype`), or a static option. Naming is saving: what no rule of a needed
gradient names is not kept alive. Names become positions here, once, at import; an unknown name fails here.

An `Op` is called as a ufunc is: an argument whose type defines `__op__` takes the call over (a Tensor records),
otherwise the kernel runs. So this module must not know Tensor, nodes or the engine.

**The seam.** Whoever has arrays and wants the op's results calls `Op.run`; whoever wants them written over an array
calls `Op.write`. Both hand the call to the thread's transform if one is on. The recorded calls on the hot path have
the same test written out. So a kernel meets NumPy arrays only, and a transform sees every call with its op.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..modes import local

Rule = Callable[..., Any]
# What an op computes in: given the common type of its operands and the type of each, the type, or an exception.
Domain = Callable[[np.dtype[Any], list[np.dtype[Any]]], np.dtype[Any]]
Step = tuple[int, Rule, tuple[int, ...]]
# How the results of an op lie in memory, whose strides programs see; what each word means stands at `operator`.
Layout = Literal["rows", "kept", "columns", "elementwise"]
# What the rules of an op do about complex conjugates; what each word means stands at `elementwise`.
Complex = Literal["holomorphic", "real", "adjoint"]
# What differs in an op whose result is written over its first operand: a `node`, a `name`, a `kind`, a `kernel`, and
# rules by the argument.
Written = Mapping[str, Any]

# What a kernel takes as it is.
_COMPUTED_WITH = frozenset((np.ndarray, float, int, bool, type(None)))
# The layouts of kinds of operators that do not say any.
_LAYOUTS: dict[str, Layout] = {"elementwise": "elementwise", "constant": "elementwise"}


class Save(NamedTuple):
    """One thing that a node may keep: `kind` is 'input', 'out', 'shape', 'dtype' or 'static'; `place` says which."""

    kind: str
    place: int


class Op:
    """An operator. Made by `elementwise`, `linear` or `operator`; called with arrays or with what defines `__op__`.

    `arguments` are its positional arguments, the first `arity` of them tensors (or, where `variadic`, the first
    argument is a sequence of them). `steps` holds, for each differentiable argument, its position, its rule,
    and where in `saves` the values stand that the rule names.
    """

    by_kernel: ClassVar[dict[Any, Op]] = {}
    __slots__ = ("arguments", "arity", "complex", "composition", "derived", "differentiable", "domain",
                 "indices_at", "kernel", "kind", "layout", "name", "node_name", "outputs", "rules", "saved_arrays",
                 "saves", "several", "short", "steps", "unfilled", "uses", "variadic", "view", "written")

    def __init__(self, name: str, kernel: Callable[..., Any], arguments: str, rules: Mapping[str, Rule], *,
                 kind: str, domain: str | Domain = "as given", node: str | None = None, outputs: str = "out",
                 differentiable: str | None = None, tensors: int | None = None, complex: Complex | None = None,
                 view: bool = False, variadic: bool = False, short: bool = False, unfilled: bool = False,
                 layout: Layout | None = None, written: Written | None = None) -> None:
        self.name, self.kernel, self.kind, self.domain = name, kernel, kind, domain
        self.arguments = tuple(arguments.split())
        self.arity = tensors if tensors is not None else max(map(self.arguments.index, rules), default=0) + 1
        self.node_name = node or backward_name(name)
        self.outputs = tuple(outputs.split())
        self.differentiable = self.outputs if differentiable is None else tuple(differentiable.split())
        # Whether gradients may come to more than one output, or to a number of them that the call decides.
        self.several = self.outputs == ("*",) or len(self.differentiable) > 1
        self.rules, self.view, self.variadic = dict(rules), view, variadic
        # The gradients of several outputs reach the rules as they are, so these rules are adjoints.
        self.complex: Complex = complex or ("adjoint" if self.several else "holomorphic")
        if self.several and self.complex == "holomorphic":
            raise TypeError(f"{name} has several outputs, so its rules are adjoints, or have real coefficients")
        self.unfilled = unfilled      # whether rules are given None, not zeros, where no gradient came
        # Whether the recorded call is the short one, for ufuncs, and what is called like them, of one or two tensors.
        self.short = short or (_called_as_ufunc(kernel) and len(self.arguments) == self.arity <= 2)
        self.saves = self._initial_saves()
        self.steps = tuple([self._step(argument, rule) for argument, rule in rules.items()])
        self.uses = {index: frozenset(positions) for index, _, positions in self.steps}
        self.derived = kind == "elementwise" and bool(self.steps)   # element by element, with a derivative
        self.saved_arrays = tuple(i for i, save in enumerate(self.saves) if save.kind in ("input", "out"))
        # Where in `saves` the arrays of an index stand, which are not operands but as much in need of care.
        self.indices_at = next((i for i, (kind, place) in enumerate(self.saves)
                                if kind == "static" and self.arguments[place] == "indices"), None)
        self.layout: Layout = layout or _LAYOUTS.get(kind, "kept" if view else "rows")
        self.composition: Callable[..., Any] | None = None     # what the op is recorded as, if it is of `composed`
        Op.by_kernel.setdefault(kernel, self)
        # The op that is recorded where the result is written over the first operand: mostly this one.
        self.written: Op = self if written is None else self._changed(written)

    def _step(self, argument: str, rule: Rule) -> Step:
        """The place of an argument, its rule, and where in `saves` the values stand that the rule names."""
        return (self.arguments.index(argument), rule,
                tuple([self._position(argument, need) for need in parameters(rule)[1:]]))

    def _changed(self, written: Written) -> Op:
        """This op with what is different in its in-place form."""
        rules = {**self.rules, **{name: written[name] for name in self.arguments if name in written}}
        return Op(written.get("name", self.name), written.get("kernel", self.kernel), " ".join(self.arguments), rules,
                  kind=written.get("kind", self.kind), domain=self.domain, node=written.get("node", self.node_name),
                  outputs=" ".join(self.outputs), tensors=self.arity, complex=self.complex, view=self.view,
                  unfilled=self.unfilled, layout=self.layout)

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def _initial_saves(self) -> list[Save]:
        """For the short calls a fixed layout, inputs then result; for others it grows as the rules ask."""
        if not self.short:
            return []
        return [*(Save("input", i) for i in range(self.arity)), Save("out", 0)]

    def _position(self, argument: str, need: str) -> int:
        """Where in `saves` the thing that a rule calls `need` is kept."""
        base, _, attribute = need.rpartition("_")
        if need in self.outputs:
            save = Save("out", self.outputs.index(need))
        elif need in self.arguments:
            index = self.arguments.index(need)
            save = Save("input" if index < self.arity else "static", index)
        elif attribute in ("shape", "dtype") and base in self.arguments:
            save = Save(attribute, self.arguments.index(base))
        else:
            raise TypeError(f"the rule of {self.name} for {argument!r} names {need!r}, which is no argument, "
                            f"result, shape or dtype of it")
        if save not in self.saves:
            self.saves.append(save)
        return self.saves.index(save)

    def __call__(self, *args: Any) -> Any:
        operands = args[0] if self.variadic else args[: self.arity]
        for operand in operands:
            kind = type(operand)
            if kind not in _COMPUTED_WITH:
                hook = getattr(kind, "__op__", None)
                if hook is not None:
                    return hook(self, args)
                if local.thread.transform is not None:
                    return self.run(*args)
        return self.kernel(*args)

    def run(self, *args: Any) -> Any:
        """The op's results for arrays and options, of which the transform that is on decides."""
        transform = local.thread.transform
        return self.compute(*args) if transform is None else transform(self, self.compute, args, False)

    def compute(self, *args: Any) -> Any:
        """The results for NumPy arrays: what the kernel returns, as arrays (no NumPy scalars) in the op's layout."""
        results = local.thread.run(self.kernel, *args)
        order: Literal["C"] | None = "C" if self.layout == "rows" else None
        if self.outputs == ("out",):
            return np.asarray(results, order=order)
        return tuple([np.asarray(result, order=order) for result in results])

    def write(self, into: Callable[..., Any], *args: Any) -> None:
        """Call `into(*args)`, which writes the op's result over the array `args[0]`; or have the transform do it."""
        transform = local.thread.transform
        if transform is None:
            local.thread.run(into, *args)
        else:
            transform(self, partial(_quietly, into), args, True)


def _quietly(kernel: Callable[..., Any], *args: Any) -> Any:
    return local.thread.run(kernel, *args)


def _called_as_ufunc(kernel: Callable[..., Any]) -> bool:
    return isinstance(kernel, np.ufunc) or "out" in (getattr(kernel, "__kwdefaults__", None) or ())


def parameters(function: Callable[..., Any]) -> list[str]:
    """Names of the positional parameters; from the code object where there is one, since that is quick."""
    code = getattr(function, "__code__", None)
    if code is None:
        return [*inspect.signature(function).parameters]
    return list(code.co_varnames[: code.co_argcount])


def backward_name(name: str, overload: int = 0) -> str:
    """PyTorch's class name for the node of an op.

    >>> backward_name("log_softmax")
    'LogSoftmaxBackward0'
    """
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) + f"Backward{overload}"


def flat(g: Any) -> Any:
    """The rule of what is flat wherever it has a derivative: a rounding, a comparison, what is written over."""
    return np.zeros_like(g)


def not_differentiable(name: str) -> Rule:
    """A rule for what PyTorch records, but refuses to differentiate."""

    def rule(g: Any) -> Rule:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return rule


def elementwise(name: str, kernel: Callable[..., Any], *, arguments: str | None = None,
                domain: str | Domain = "promote", node: str | None = None, complex: Complex = "holomorphic",
                tensors: int | None = None, written: Written | None = None, **rules: Rule) -> Op:
    """An elementwise operator. Its rules multiply by a derivative, so each is the JVP too.

    `domain` is 'promote' (the common type), 'float' (and then at least the default float), 'as given', or a function
    that chooses the type and refuses those that the op is not defined for (see `domains`). A kernel that has a
    keyword `out=...` is called as a ufunc is. `written` says what differs where the result is written over the first
    operand: PyTorch gives some such writes a node of another name, or saves other values for them.

    `complex` says what the rules do about conjugates. The rules of a "holomorphic" op (the default) are linear in the
    cotangent and free of conjugates, as for real numbers; the engine makes the gradient, conj(rule(conj(g))). So are
    the rules of a "real" op, but their coefficients are real, and both conjugates cancel. An "adjoint" rule is the
    gradient as it stands, with its conjugates: for an op that is not holomorphic (abs), or written with adjoints.
    """
    if arguments is None:
        arguments = " ".join(rules) if isinstance(kernel, np.ufunc) else " ".join(parameters(kernel))
    return Op(name, kernel, arguments, rules, kind="elementwise", domain=domain, node=node, complex=complex,
              tensors=tensors, written=written)


def linear(name: str, kernel: Callable[..., Any], *, node: str | None = None, view: bool = False, outputs: str = "out",
           variadic: bool = False, domain: str | Domain = "as given", tensors: int | None = None,
           layout: Layout | None = None, complex: Complex | None = None, written: Written | None = None,
           **rules: Rule) -> Op:
    """An operator linear in each argument that has a rule, taken together: its JVP is itself on the tangents.

    `layout` is as for `operator`, but that of a view is 'kept'. `complex` is as for `elementwise`, but that of a view
    is 'real': a view only moves numbers.
    """
    return Op(name, kernel, " ".join(parameters(kernel)), rules, kind="linear", node=node, view=view, outputs=outputs,
              variadic=variadic, domain=domain, tensors=tensors, layout=layout,
              complex=complex or ("real" if view else None), written=written)


def operator(name: str, kernel: Callable[..., Any], *, node: str | None = None, outputs: str = "out",
             differentiable: str | None = None, tensors: int | None = None, complex: Complex | None = None,
             domain: str | Domain = "as given", unfilled: bool = False, layout: Layout | None = None,
             variadic: bool = False, written: Written | None = None, **rules: Rule) -> Op:
    """Any other operator: neither elementwise nor linear in all its arguments at once.

    `layout` is 'rows', the default (results that the kernel leaves otherwise are copied row by row); 'kept' (they stay
    as the kernel leaves them, mostly as the operand lies); 'columns' (they stay so too, and the kernel makes
    matrices column by column, as LAPACK does); or 'elementwise' (as the operands lie together, the first that can
    deciding for each two dimensions; so lie the results of all elementwise operators).
    `complex` is as for `elementwise`; for an op with several outputs the default is 'adjoint'.
    The rules of an op that is `unfilled` are given None for the outputs that no gradient came from, and may return it.
    """
    return Op(name, kernel, " ".join(parameters(kernel)), rules, kind="operator", node=node, outputs=outputs,
              differentiable=differentiable, tensors=tensors, complex=complex, domain=domain,
              unfilled=unfilled, layout=layout, variadic=variadic, written=written)


def constant(name: str, kernel: Callable[..., Any], arguments: str, *, domain: str | Domain = "as given",
             written: Written | None = None) -> Op:
    """An operator without a derivative: a comparison, a rounding to integers, a predicate."""
    names = arguments.split()
    return Op(name, kernel, arguments, {}, kind="constant", domain=domain, tensors=len(names), written=written)


def composed(name: str, kernel: Callable[..., Any], composition: Callable[..., Any], *, tensors: int,
             arguments: list[str] | None = None) -> Op:
    """A quick kernel for what `composition` computes with other operators; only rules call such an op.

    A kernel may look at the numbers, where a rule must not: it takes a short way that only some numbers allow, or one
    that only arrays have. Recorded, the op is its composition, so it has no rules and leaves no node of its own.
    """
    arguments = parameters(kernel) if arguments is None else arguments
    op = Op(name, kernel, " ".join(arguments), {}, kind="operator", tensors=tensors, layout="kept")
    op.composition = composition
    return op
