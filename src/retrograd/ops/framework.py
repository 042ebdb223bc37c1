"""What an operator is: a kernel, a name, and one derivative rule for each differentiable argument.

A rule is an ordinary function of the cotangent and of the values that it names: an input (`x`), the result (`out`),
an input's shape, dtype or strides (`x_shape`, `x_dtype`, `x_strides`), or a static option. Naming is saving: a value
that no rule of a needed gradient names is not kept alive. Names become positions here, once, at import. An unknown name
fails here.

An `Op` is called like a ufunc: an argument whose type defines `__op__` takes the call over (a tensor records the call),
otherwise the kernel runs. So ops need no knowledge of tensors, nodes or the engine; `tests/test_layers.py` checks this.

**The seam.** `Op.run` computes the op's results from arrays, and `Op.write` writes the results over an array. Both hand
the call to the thread's transform if one is on. The recorded calls on the hot path repeat this test in their own code.
So a kernel meets only NumPy arrays, and a transform sees every call with its op.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..foundations.dtypes import RARE
from ..foundations.errors import noted
from ..foundations.modes import local
from ..kernels.narrow import in_float32, rare_among
from .lacking import refuse_lacking

Rule = Callable[..., Any]
# Chooses the type that an op computes in, from the common type of its operands and the type of each; or raises.
Domain = Callable[[np.dtype[Any], list[np.dtype[Any]]], np.dtype[Any]]
Step = tuple[int, Rule, tuple[int, ...]]
# How the results of an op lie in memory (programs see the strides). `operator` explains the words.
Layout = Literal["rows", "kept", "columns", "elementwise"]
# What the rules of an op do about complex conjugates. `elementwise` explains the words.
Complex = Literal["holomorphic", "real", "adjoint"]
# What differs in an op if its result is written over its first operand: `node`, `name`, `kind`, `kernel`, and rules by
# the name of the argument.
Written = Mapping[str, Any]

# The types of operands that a kernel takes as they are.
_COMPUTED_WITH = frozenset((np.ndarray, float, int, bool, type(None), *np.sctypeDict.values()))
# What a node may keep of an input instead of the input.
_ATTRIBUTES = ("shape", "dtype", "strides")
# The layouts of kinds of operators that do not say any.
_LAYOUTS: dict[str, Layout] = {"elementwise": "elementwise", "constant": "elementwise"}


class Save(NamedTuple):
    """One thing that a node may keep: `kind` is 'input', 'out', 'shape', 'dtype', 'strides' or 'static'.

    `place` says which."""

    kind: str
    place: int

    @property
    def attribute(self) -> str:
        """What is kept of an input instead of the input, such as "shape"; otherwise empty."""
        return self.kind if self.kind in _ATTRIBUTES else ""


# Operators share these objects, since most save the same few things.
_save = cache(Save)
_positions = cache(frozenset[int])


class Op:
    """An operator. `elementwise`, `linear` and `operator` make it. Its operands are arrays or define `__op__`.

    `node` is the name of the node, or the number of PyTorch's overload if the rest of the name follows from `name`.

    `arguments` names the positional arguments. The first `arity` of them are tensors; if the op is `variadic`, the
    first argument is a sequence of tensors. `steps` holds, for each differentiable argument, its position, its rule,
    and where in `saves` the values stand that the rule names.
    """

    by_kernel: ClassVar[dict[Any, Op]] = {}
    __slots__ = ("any_type", "arguments", "arity", "complex", "composition", "derived", "differentiable", "domain",
                 "indices_at", "joint", "kernel", "kind", "known", "layout", "name", "node_name", "outputs", "rules",
                 "saved_arrays", "saves", "several", "short", "steps", "unfilled", "uses", "variadic", "view",
                 "written")

    def __init__(self, name: str, kernel: Callable[..., Any], arguments: str, rules: Mapping[str, Rule], *,
                 kind: str, domain: str | Domain = "as given", node: str | int = 0, outputs: str = "out",
                 differentiable: str | None = None, tensors: int | None = None, complex: Complex | None = None,
                 view: bool = False, variadic: bool = False, short: bool = False, unfilled: bool = False,
                 joint: bool = False, layout: Layout | None = None, written: Written | None = None,
                 any_type: bool = False) -> None:
        self.name, self.kernel, self.kind, self.domain = name, kernel, kind, domain
        self.arguments = tuple(arguments.split())
        self.arity = tensors if tensors is not None else max(map(self.arguments.index, rules), default=0) + 1
        self.node_name = node if isinstance(node, str) else backward_name(name, node)
        self.outputs = tuple(outputs.split())
        self.differentiable = self.outputs if differentiable is None else tuple(differentiable.split())
        # Whether gradients may reach more than one output, or a number of outputs that the call decides.
        self.several = self.outputs == ("*",) or len(self.differentiable) > 1
        self.known = True             # whether the package states the op, so that its rules do nothing beside
        self.rules, self.view, self.variadic, self.joint = dict(rules), view, variadic, joint
        # Whether the kernel only moves or converts elements, so that it takes the types of ml_dtypes as they are.
        self.any_type = any_type or view
        # The engine does not conjugate the gradients of several outputs, so these rules are adjoints.
        self.complex: Complex = complex or ("adjoint" if self.several else "holomorphic")
        if self.several and self.complex == "holomorphic":
            raise TypeError(f"{name} has several outputs, so its rules are adjoints, or have real coefficients")
        self.unfilled = unfilled      # whether rules get None, not zeros, for an output without a gradient
        # Whether the short recorded call is used: for ufuncs, and kernels called like them, of one or two tensors.
        self.short = short or (called_as_ufunc(kernel) and len(self.arguments) == self.arity <= 2)
        # Inputs, then the result, for ops with the short call. `_position` adds what else the rules name.
        self.saves = [*[_save("input", i) for i in range(self.arity)], _save("out", 0)] if self.short else []
        self.steps = tuple([self._step(argument, rule) for argument, rule in rules.items()])
        self.uses = {index: _positions(positions) for index, _, positions in self.steps}
        self.derived = kind == "elementwise" and bool(self.steps)   # elementwise, with a derivative
        self.saved_arrays = tuple(i for i, save in enumerate(self.saves) if save.kind in ("input", "out"))
        # Where in `saves` the arrays of an index stand. They are no operands, but a write to them must be noticed too.
        self.indices_at = next((i for i, (kind, place) in enumerate(self.saves)
                                if kind == "static" and self.arguments[place] == "indices"), None)
        self.layout: Layout = layout or _LAYOUTS.get(kind, "kept" if view else "rows")
        self.composition: Callable[..., Any] | None = None     # what the op is recorded as, if it is of `composed`
        Op.by_kernel.setdefault(kernel, self)
        # The op that is recorded if the result is written over the first operand: for most ops, this op.
        self.written: Op = self if written is None else self._changed(written)

    def _step(self, argument: str, rule: Rule) -> Step:
        """The place of an argument, its rule, and where in `saves` the values stand that the rule names."""
        return (self.arguments.index(argument), rule,
                tuple([self._position(argument, need) for need in parameters(rule)[2 if self.joint else 1:]]))

    def _changed(self, written: Written) -> Op:
        """The in-place form of this op."""
        rules = {**self.rules, **{name: written[name] for name in self.arguments if name in written}}
        return Op(written.get("name", self.name), written.get("kernel", self.kernel), " ".join(self.arguments), rules,
                  kind=written.get("kind", self.kind), domain=self.domain, node=written.get("node", self.node_name),
                  outputs=" ".join(self.outputs), tensors=self.arity, complex=self.complex, view=self.view,
                  unfilled=self.unfilled, layout=self.layout, any_type=self.any_type)

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def _position(self, argument: str, need: str) -> int:
        """Where in `saves` the thing that a rule calls `need` is kept."""
        base, _, attribute = need.rpartition("_")
        if need in self.outputs:
            save = _save("out", self.outputs.index(need))
        elif need in self.arguments:
            index = self.arguments.index(need)
            save = _save("input" if index < self.arity else "static", index)
        elif attribute in _ATTRIBUTES and base in self.arguments:
            save = _save(attribute, self.arguments.index(base))
        else:
            raise TypeError(f"the rule of {self.name} for {argument!r} names {need!r}, which is no argument, "
                            f"result, shape, dtype or strides of it")
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
        if RARE and rare_among(args) and not (self.view or self.any_type):
            return self._in_float32(*args)
        return self.kernel(*args)

    def run(self, *args: Any) -> Any:
        """The op's results for arrays and options, or what the thread's transform returns, if one is on."""
        transform = local.thread.transform
        return self.compute(*args) if transform is None else transform(self, self.compute, args, False)

    def compute(self, *args: Any) -> Any:
        """The kernel's results for NumPy arrays, as arrays (not NumPy scalars) in the op's layout."""
        rare = RARE and not self.view and rare_among(args)
        if rare:
            refuse_lacking(self.name, args, RARE)
        results = local.thread.quietly(self._in_float32 if rare and not self.any_type else self.kernel, *args)
        if type(results) is np.ndarray and self.layout != "rows":
            return results
        order: Literal["C"] | None = "C" if self.layout == "rows" else None
        if self.outputs == ("out",):
            return np.asarray(results, order=order)
        return tuple([np.asarray(result, order=order) for result in results])

    def _in_float32(self, *args: Any) -> Any:
        return in_float32(self.kernel, args, self.kind == "elementwise" or self.name == "addr")

    def write(self, into: Callable[..., Any], *args: Any) -> None:
        """Call `into(*args)`, which writes the op's result over the array `args[0]`, or let the transform do this."""
        transform = local.thread.transform
        if transform is None:
            local.thread.run(into, *args)
        else:
            transform(self, partial(_quietly, into), args, True)


def _quietly(kernel: Callable[..., Any], *args: Any) -> Any:
    return local.thread.run(kernel, *args)


def called_as_ufunc(kernel: Callable[..., Any]) -> bool:
    """Whether a kernel has the keyword `out`, in which it writes its result."""
    return isinstance(kernel, np.ufunc) or "out" in (getattr(kernel, "__kwdefaults__", None) or ())


def parameters(function: Callable[..., Any]) -> list[str]:
    """Names of the positional parameters, read from the code object if there is one, which is quicker."""
    code = getattr(function, "__code__", None)
    if code is None:
        own = inspect.signature(function).parameters.values()
        return [parameter.name for parameter in own if parameter.kind is not parameter.KEYWORD_ONLY]
    return list(code.co_varnames[: code.co_argcount])


def backward_name(name: str, overload: int = 0) -> str:
    """PyTorch's class name for the node of an op.

    >>> backward_name("log_softmax")
    'LogSoftmaxBackward0'
    """
    return "".join([part[:1].upper() + part[1:] for part in name.split("_")]) + f"Backward{overload}"


def flat(g: Any) -> Any:
    """The rule of an argument with a derivative of zero: of a rounding or a comparison, or one that is overwritten."""
    return np.zeros_like(g)


def not_differentiable(name: str) -> Rule:
    """A rule for an op that PyTorch records, but refuses to differentiate."""

    def rule(g: Any) -> Rule:
        raise noted(
            RuntimeError(f"derivative for aten::{name} is not implemented"), "backward#derivative-not-implemented")

    return rule


def elementwise(name: str, kernel: Callable[..., Any], *, arguments: str | None = None,
                domain: str | Domain = "promote", node: str | int = 0, complex: Complex = "holomorphic",
                tensors: int | None = None, written: Written | None = None, any_type: bool = False,
                layout: Layout | None = None, **rules: Rule) -> Op:
    """An elementwise operator. Its rules multiply by a derivative, so each rule is also the JVP.

    `domain` is 'promote' (the common type), 'float' (the common type, but at least the default float), 'as given', or a
    function that chooses the type and refuses types that the op is not defined for (see `domains`). A kernel that has
    a keyword `out=...` is called like a ufunc. `written` says what differs if the result is written over the first
    operand: PyTorch gives some such writes a node of another name, or saves other values for them.

    `complex` says what the rules do about conjugates. The rules of a "holomorphic" op (the default) are linear in the
    cotangent and without conjugates, as for real numbers; the engine computes the gradient, conj(rule(conj(g))). The
    rules of a "real" op are the same, but their coefficients are real, so the two conjugates cancel. An "adjoint" rule
    returns the gradient itself, with its conjugates: for an op that is not holomorphic (abs) or written with adjoints.
    """
    if arguments is None:
        arguments = " ".join(rules) if isinstance(kernel, np.ufunc) else " ".join(parameters(kernel))
    return Op(name, kernel, arguments, rules, kind="elementwise", domain=domain, node=node, complex=complex,
              tensors=tensors, written=written, any_type=any_type, layout=layout)


def linear(name: str, kernel: Callable[..., Any], *, node: str | int = 0, view: bool = False, outputs: str = "out",
           variadic: bool = False, domain: str | Domain = "as given", tensors: int | None = None,
           layout: Layout | None = None, complex: Complex | None = None, written: Written | None = None,
           any_type: bool = False, **rules: Rule) -> Op:
    """An operator that is jointly linear in the arguments that have rules: its JVP is the op itself on the tangents.

    `layout` is as for `operator`, but the layout of a view is 'kept'. `complex` is as for `elementwise`, but the
    default is 'real', since most of these operators only move and add numbers. `any_type` says that the kernel takes
    the types of ml_dtypes as they are; other kernels compute with them in float32.
    """
    return Op(name, kernel, " ".join(parameters(kernel)), rules, kind="linear", node=node, view=view, outputs=outputs,
              variadic=variadic, domain=domain, tensors=tensors, layout=layout, any_type=any_type,
              complex=complex or "real", written=written)


def operator(name: str, kernel: Callable[..., Any], *, node: str | int = 0, outputs: str = "out",
             differentiable: str | None = None, tensors: int | None = None, complex: Complex | None = None,
             domain: str | Domain = "as given", unfilled: bool = False, layout: Layout | None = None,
             variadic: bool = False, written: Written | None = None, any_type: bool = False, joint: Rule | None = None,
             **rules: Rule) -> Op:
    """Any other operator: neither elementwise nor jointly linear in its arguments.

    `layout` says how the results lie in memory:

    - 'rows', the default: row by row; results that the kernel leaves otherwise are copied.
    - 'kept': as the kernel leaves them, which is mostly as the operand lies.
    - 'columns': also as the kernel leaves them; the kernel makes matrices column by column, as LAPACK does.
    - 'elementwise': as TensorIterator orders dimensions. For each two dimensions, the first operand that can decides.
      The results of all elementwise operators lie so.

    `complex` is as for `elementwise`, but the default is 'adjoint' for an op with several outputs. The rules of an
    `unfilled` op get None for outputs without a gradient, and may return None. `any_type` is as for `linear`.

    `joint` is one rule for all tensors, for gradients that share most of their work. Its second parameter is a tuple
    that says of each tensor whether its gradient is needed. It returns all gradients; those not needed may be None.
    """
    arguments = parameters(kernel)
    if joint is not None:
        rules = dict.fromkeys(arguments[:tensors], joint)
    return Op(name, kernel, " ".join(arguments), rules, kind="operator", node=node, outputs=outputs,
              differentiable=differentiable, tensors=tensors, complex=complex, domain=domain, unfilled=unfilled,
              layout=layout, variadic=variadic, written=written, any_type=any_type, joint=joint is not None)


def constant(name: str, kernel: Callable[..., Any], arguments: str, *, domain: str | Domain = "as given",
             written: Written | None = None, layout: Layout | None = None) -> Op:
    """An operator without a derivative: a comparison, a rounding to integers, a predicate."""
    names = arguments.split()
    return Op(name, kernel, arguments, {}, kind="constant", domain=domain, tensors=len(names), written=written,
              layout=layout)


def composed(name: str, kernel: Callable[..., Any], composition: Callable[..., Any], *, tensors: int,
             arguments: list[str] | None = None) -> Op:
    """A quick kernel for what `composition` computes with other operators; only rules call such an op.

    Unlike a rule, a kernel may look at the numbers. So it can take a shortcut that only some numbers allow, or that
    only arrays have. A call on tensors records the composition, so the op has no rules and leaves no node of its own.
    """
    arguments = parameters(kernel) if arguments is None else arguments
    op = Op(name, kernel, " ".join(arguments), {}, kind="operator", tensors=tensors, layout="kept")
    op.composition = composition
    return op
