# %% [markdown]
# # Write autograd yourself, in ten steps
#
# **You will learn** how an autograd engine works, because you write one: ten steps, from one number to a compiler. No
# step has more than a hundred lines, and each is compared with the package.
#
# You need Python, NumPy, and what [Autograd in ten minutes](ten_minutes.py) says. The code of a step goes on with the
# code above it.

# %%
import itertools
import inspect
import math
import numpy as np
import retrograd as torch

def same(mine, theirs):
    """Whether two results agree, up to rounding."""
    return bool(np.allclose(np.asarray(mine), np.asarray(theirs.detach()), atol=1e-6))

# %% [markdown]
# ## Step 1: a number that remembers
#
# The chain rule says: if `y` depends on `a`, and `a` depends on `x`, multiply the two slopes. If there are several ways
# from `x` to `y`, add the products of all ways. So a number must remember what it was made of, and how it changes with
# each part.

# %%
class Number:
    """A value, and the numbers that it was made of, each with a slope."""

    def __init__(self, value, made_of=()):
        self.value, self.made_of = value, made_of

    def __add__(self, other):
        return Number(self.value + other.value, [(self, 1.), (other, 1.)])

    def __mul__(self, other):
        made_of = [(self, other.value), (other, self.value)]
        return Number(self.value * other.value, made_of)

def sin(x):
    return Number(math.sin(x.value), [(x, math.cos(x.value))])

def slope(y, x):
    """How y changes with x: the sum over all ways from y down to x."""
    if y is x:
        return 1.
    return sum(s * slope(part, x) for part, s in y.made_of)

x, w = Number(3.), Number(2.)
y = sin(x * w) + x
print(f"{slope(y, x):.4f} {slope(y, w):.4f}")

tx = torch.tensor(3., requires_grad=True)
tw = torch.tensor(2., requires_grad=True)
(torch.sin(tx * tw) + tx).backward()
print(tx.grad, tw.grad)
#> 2.9203 2.8805
#> tensor(2.9203) tensor(2.8805)

# %% [markdown]
# ## Step 2: a graph, and one walk over it
#
# Step 1 walks every *way*. Double a number twenty times by adding it to itself, and there are a million ways. But there
# are only twenty-one numbers. So walk over the numbers instead, each one once, and add up what arrives *before* you go
# on. A number is made after its parts. If you go from the newest number to the oldest, all that a number gets has
# arrived when you come to it.

# %%
counter = itertools.count()

class Number(Number):
    """A number that also knows when it was made."""

    def __init__(self, value, made_of=()):
        super().__init__(value, made_of)
        self.made = next(counter)

def slopes(y):
    """The slope of y by each number below it, in one walk from the newest on."""
    arrived, done = {y: 1.}, {}
    while arrived:
        newest = max(arrived, key=lambda number: number.made)
        done[newest] = arrived.pop(newest)
        for part, s in newest.made_of:
            arrived[part] = arrived.get(part, 0.) + s * done[newest]
    return done

x = Number(1.)
y = x
for _ in range(20):
    y = y + y
found = slopes(y)
print(len(found), "numbers,", found[x])
#> 21 numbers, 1048576.0

# %% [markdown]
# This is all of reverse mode. (`max` looks at all numbers that wait. A heap would be quicker.) What follows makes it
# useful.
#
# ## Step 3: tensors
#
# A program with one object for each number is slow. Let the objects be arrays. Then an operation needs two things: a
# *kernel*, which computes, and one *rule* for each argument. A rule gets the gradient `g` of the result and returns the
# gradient of the argument.
#
# Two decisions here pay off later. The names of a rule's parameters say what the rule needs, so nothing else is saved.
# And a rule is written with the operators themselves. So it does not care what it computes with.

# %%
def rank(value):
    """0 for arrays and Python's numbers. Objects with a rank take operators over."""
    return getattr(value, "rank", 0)

class Op:
    """An operator: its kernel, the names of its arguments, and a rule for each."""

    def __init__(self, kernel, names, linear=False, batched=None, **rules):
        self.kernel, self.names, self.rules = kernel, names.split(), rules
        self.linear, self.batched = linear, batched          # for steps 8 and 9
        self.needs = {name: [*inspect.signature(rule).parameters][1:]
                      for name, rule in rules.items()}

    def __call__(self, *args):
        owner = max(args, key=rank)
        return owner.take_over(self, args) if rank(owner) else self.kernel(*args)

class Arithmetic:
    """What tensors have in common with the objects of later steps."""

    __array_ufunc__ = None               # in `array * tensor`, the tensor decides

    def __add__(self, other): return add(self, other)
    def __mul__(self, other): return mul(self, other)
    def __sub__(self, other): return add(self, mul(other, -1.))
    def __rsub__(self, other): return add(other, mul(self, -1.))
    def __matmul__(self, other): return matmul(self, other)
    def __rmatmul__(self, other): return matmul(other, self)
    __radd__, __rmul__ = __add__, __mul__

def shape_of(value):
    return value.shape if rank(value) else np.shape(value)

add = Op(np.add, "x y", x=lambda g: g, y=lambda g: g)
mul = Op(np.multiply, "x y", x=lambda g, y: g * y, y=lambda g, x: g * x)
exp = Op(np.exp, "x", x=lambda g, out: g * out)
tanh = Op(np.tanh, "x", x=lambda g, out: g * (1. - out * out))
transpose = Op(lambda x: np.swapaxes(x, -1, -2), "x", linear=True,
               x=lambda g: transpose(g))
matmul = Op(np.matmul, "x y", linear=True, x=lambda g, y: g @ transpose(y),
            y=lambda g, x: transpose(x) @ g)

# %% [markdown]
# A tensor takes an operator over: it computes with the values, and leaves a node. The node keeps where the gradients go
# (`ends`), and what the rules of the wanted gradients name.

# %%
class Tensor(Arithmetic):
    """A value, and where its gradient goes. A leaf that wants one is its own end."""

    rank = 4

    def __init__(self, value, wanted=False):
        self.value, self.end = value, self if wanted else None
        self.version = 0                                     # for step 6

    @property
    def shape(self):
        return shape_of(self.value)

    def take_over(self, op, args):
        out = Tensor(op(*map(value_of, args)))
        ends = [getattr(arg, "end", None) for arg in args]
        if any(end is not None for end in ends):
            out.end = Node(op, args, ends, out)
        return out

def value_of(value):
    return value.value if isinstance(value, Tensor) else value

class Node:
    """One call of an operator, as far as the way back needs it."""

    def __init__(self, op, args, ends, out):
        self.made, self.op, self.ends = next(counter), op, ends
        self.shapes = [*map(shape_of, args)]
        given = dict(zip(op.names, args), out=out)
        used = {need for name, end in zip(op.names, ends) if end is not None
                for need in op.needs[name]}
        self.saved = {name: (given[name], version_of(given[name])) for name in used}

    def pull(self, g, record):
        """Each end with its gradient. With `record`, the rules compute with tensors."""
        for name, end, shape in zip(self.op.names, self.ends, self.shapes):
            if end is not None:
                needed = [self.look_up(need, record) for need in self.op.needs[name]]
                yield end, fit(self.op.rules[name](g, *needed), shape)

    def look_up(self, name, record):
        value, _ = self.saved[name]
        return value if record else value_of(value)

def version_of(value):
    return getattr(value, "version", 0)

def fit(g, shape):
    return g                                                 # for step 4

def gradients(out, leaves, record=False):
    """The gradients of the sum of `out`: step 2, with nodes for numbers."""
    arrived, found = {}, {}
    def give(end, g):
        home = found if isinstance(end, Tensor) else arrived
        home[end] = home[end] + g if end in home else g

    give(out.end, np.ones(out.shape))
    while arrived:
        newest = max(arrived, key=lambda node: node.made)
        for end, g in newest.pull(arrived.pop(newest), record):
            give(end, g)
    return [found[leaf] for leaf in leaves]

a = np.array([[1., 2.], [3., 4.]])
b = np.array([[0.5, -1.], [2., 0.]])
x, y = Tensor(a, wanted=True), Tensor(b, wanted=True)
mine = gradients(tanh(x @ y) * x, [x, y])

tx, ty = torch.tensor(a, requires_grad=True), torch.tensor(b, requires_grad=True)
theirs = torch.autograd.grad((torch.tanh(tx @ ty) * tx).sum(), [tx, ty])
print([same(m, t) for m, t in zip(mine, theirs)])
#> [True, True]

# %% [markdown]
# ## Step 4: broadcasting
#
# NumPy stretches a row to a matrix if the other argument is a matrix. Then each element of the row is used many times,
# and by the chain rule its gradient is a *sum* over all uses. The rules need not know. One place undoes it: where a
# gradient leaves a node, it is fitted to the shape of the argument.
#
# To stretch and to sum are each other's rule.

# %%
def summed(x, shape):
    """x, summed over the axes in which it is larger than this shape."""
    x = np.sum(x, axis=tuple(range(np.ndim(x) - len(shape))))
    thin = tuple(i for i, n in enumerate(shape) if n == 1 and np.shape(x)[i] != 1)
    return np.sum(x, axis=thin, keepdims=True)

spread = Op(np.broadcast_to, "x shape", linear=True,
            x=lambda g, x: gather(g, shape_of(x)))
gather = Op(summed, "x shape", linear=True, x=lambda g, x: spread(g, shape_of(x)))

def fit(g, shape):
    return g if shape_of(g) == shape else gather(g, shape)

def total(x):
    return gather(x, ())

row = np.array([1., -2.])
x, y = Tensor(a, wanted=True), Tensor(row, wanted=True)
mine = gradients(total(exp(x * y) + y), [x, y])

ty = torch.tensor(row, requires_grad=True)
theirs = torch.autograd.grad((torch.exp(tx * ty) + ty).sum(), [tx, ty])
print([same(m, t) for m, t in zip(mine, theirs)], mine[1].shape)
#> [True, True] (2,)

# %% [markdown]
# ## Step 5: a network learns
#
# That was an engine. This trains a network with one hidden layer on it, and the same network on the package.

# %%
points = np.linspace(-2., 2., 40).reshape(-1, 1)
target = np.sin(2. * points)
draw = np.random.default_rng(0)
start = [draw.normal(size=shape) for shape in ((1, 16), (16,), (16, 1), (1,))]

def loss_of(weights, tanh):
    w1, b1, w2, b2 = weights
    error = tanh(points @ w1 + b1) @ w2 + b2 - target
    return error * error * (1. / len(points))

mine = [value.copy() for value in start]
for _ in range(300):
    leaves = [Tensor(value, wanted=True) for value in mine]
    loss = total(loss_of(leaves, tanh))
    mine = [value - 0.1 * g for value, g in zip(mine, gradients(loss, leaves))]

theirs = [torch.tensor(value, requires_grad=True) for value in start]
points, target = torch.tensor(points), torch.tensor(target)
for _ in range(300):
    error = loss_of(theirs, torch.tanh).sum()
    found = torch.autograd.grad(error, theirs)
    theirs = [(value - 0.1 * g).detach().requires_grad_()
              for value, g in zip(theirs, found)]
print(f"{float(loss.value):.5f} {error.item():.5f}")
print([same(m, t) for m, t in zip(mine, theirs)])
#> 0.00167 0.00167
#> [True, True, True, True]

# %% [markdown]
# ## Step 6: writes in place
#
# `x += y` changes memory that somebody may still need. Two things must happen. The tensor gets a new history: the write
# is an operation like any other. And each saved value must be found out if it has changed. So a tensor counts its
# writes, a node saves the count, and the way back compares the two.

# %%
class Tensor(Tensor):
    """A tensor that can be written to."""

    def add_(self, other):
        if self.end is self:
            raise RuntimeError("a leaf that requires grad is written in place")
        out = add(self, other)
        self.value[...] = out.value
        self.version, self.end = self.version + 1, out.end
        return self

class Node(Node):
    """A node that notices writes."""

    def look_up(self, name, record):
        value, version = self.saved[name]
        if version_of(value) != version:
            raise RuntimeError(f"{name} was saved at version {version}, "
                               f"and is at version {version_of(value)} now")
        return super().look_up(name, record)

x = Tensor(np.array([1., 2.]), wanted=True)
y = x * 3.
y.add_(x * x)                     # no rule has saved y, so this is fine
print(gradients(total(y), [x]))

y = exp(x)
y.add_(1.)                        # the rule of exp needs its result
try:
    gradients(total(y), [x])
except RuntimeError as problem:
    print(problem)

tx = torch.tensor([1., 2.], requires_grad=True)
ty = torch.exp(tx)
ty += 1
try:
    ty.sum().backward()
except RuntimeError as problem:
    print("version 1; expected version 0" in str(problem))
#> [array([5., 7.])]
#> out was saved at version 0, and is at version 1 now
#> True

# %% [markdown]
# A *view*, such as a row of a matrix, shares memory with its base. A write to the view changes the base, too. [What
# happens when a tensor is written in place](../inplace.md) shows how an engine follows this.
#
# ## Step 7: the gradient of a gradient
#
# A rule is written with operators, and operators work on tensors. So let the rules compute with *tensors*, and their
# work is recorded like any other. Nothing new has to be written: `record` has been there since step 3.

# %%
def nested(function, x, times):
    """The derivative of a function of one number, taken `times` times."""
    leaf = Tensor(x, wanted=True)
    out = function(leaf)
    for _ in range(times):
        (out,) = gradients(out, [leaf], record=True)
    return float(value_of(out))

print([f"{nested(lambda x: tanh(x * x), 0.7, n):.4f}" for n in (1, 2, 3)])

tx = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
out, theirs = torch.tanh(tx * tx), []
for _ in range(3):
    (out,) = torch.autograd.grad(out, tx, create_graph=True)
    theirs.append(f"{out.item():.4f}")
print(theirs)
#> ['1.1112', '0.1742', '-7.7163']
#> ['1.1112', '0.1742', '-7.7163']

# %% [markdown]
# ## Step 8: forward mode
#
# The same rules also work in the other direction. A *dual* carries a value and a tangent: how fast the value changes.
# An elementwise operator multiplies each element by a slope, forward and backward alike, so its rule is its tangent,
# too. A linear operator is its own derivative: apply it to the tangent. No operator needs a third function.

# %%
class Dual(Arithmetic):
    """A value and its tangent."""

    rank = 3

    def __init__(self, value, tangent):
        self.value, self.tangent = value, tangent

    @property
    def shape(self):
        return shape_of(self.value)

    def take_over(self, op, args):
        values = [arg.value if isinstance(arg, Dual) else arg for arg in args]
        out = op(*values)
        given = dict(zip(op.names, values), out=out)
        tangent = 0.
        for i, (name, arg) in enumerate(zip(op.names, args)):
            if isinstance(arg, Dual) and op.linear:
                parts = [*values[:i], arg.tangent, *values[i + 1:]]
                tangent = tangent + op(*parts)
            elif isinstance(arg, Dual):
                needed = [given[need] for need in op.needs[name]]
                moved = op.rules[name](arg.tangent, *needed)
                tangent = tangent + spread(moved, shape_of(out))
        return Dual(out, tangent)

def my_function(x, tanh):
    return tanh(x * x) * x

x, v = np.array([0.5, -1.]), np.array([1., 3.])
print(my_function(Dual(x, v), tanh).tangent)
theirs = torch.func.jvp(lambda x: my_function(x, torch.tanh),
                        (torch.tensor(x),), (torch.tensor(v),))[1]
print(theirs)
#> [0.71492609 4.80462852]
#> tensor([0.7149, 4.8046], dtype=torch.float64)

# %% [markdown]
# Put a dual into a tensor, and the gradient has a tangent: the Hessian times v, without the Hessian.

# %%
leaf = Tensor(Dual(x, v), wanted=True)
(g,) = gradients(total(my_function(leaf, tanh)), [leaf])
hessian = torch.func.hessian(lambda x: my_function(x, torch.tanh).sum())(
    torch.tensor(x))
print(same(g.tangent, hessian @ torch.tensor(v)))
#> True

# %% [markdown]
# ## Step 9: vmap
#
# `vmap` runs a function for a whole batch at once. The function sees one sample. Behind the sample stands an array with
# one more axis in front. Elementwise operators only have to line up the axes. Those that name a shape get the axis
# added to the shape.

# %%
class Batched(Arithmetic):
    """An array whose first axis counts samples. Its shape is that of one sample."""

    rank = 2

    def __init__(self, array):
        self.array = array

    @property
    def shape(self):
        return self.array.shape[1:]

    def take_over(self, op, args):
        if op.batched is not None:
            return Batched(op.batched(*args))
        most = max(len(shape_of(arg)) for arg in args)
        return Batched(op.kernel(*[lined_up(arg, most) for arg in args]))

def lined_up(value, most):
    """A batch with axes of length 1 behind the first, so that samples have `most`."""
    if not isinstance(value, Batched):
        return value
    count, *shape = value.array.shape
    return value.array.reshape(count, *[1] * (most - len(shape)), *shape)

def batch_spread(x, shape):
    x = lined_up(x, len(shape))
    return np.broadcast_to(x, (len(x), *shape))

def batch_gather(x, shape):
    extra = len(x.shape) - len(shape)
    x = np.sum(x.array, axis=tuple(range(1, 1 + extra)))
    thin = [i + 1 for i, n in enumerate(shape) if n == 1 and x.shape[i + 1] != 1]
    return np.sum(x, axis=tuple(thin), keepdims=True)

spread.batched, gather.batched = batch_spread, batch_gather

def gradient_of(function):
    """The function that computes the gradient of a function."""
    def run(x):
        leaf = Tensor(x, wanted=True)
        return gradients(function(leaf), [leaf])[0]
    return run

def model(weight, x, tanh, total):
    return total(tanh(x @ weight) * 2. + x * x)

weight = np.array([[0.3, -0.5], [1., 0.2]])
samples = draw.normal(size=(4, 1, 2))
mine = gradient_of(lambda x: model(weight, x, tanh, total))(Batched(samples)).array

theirs = torch.vmap(torch.func.grad(
    lambda x: model(torch.tensor(weight), x, torch.tanh, torch.sum)))(
    torch.tensor(samples))
print(mine.shape, same(mine, theirs))
#> (4, 1, 2) True

# %% [markdown]
# ## Step 10: a compiler
#
# The last object computes, and writes down each call. After one run there is a list of calls: forward and backward, and
# nothing of the Python around them. Two passes make the list shorter. Equal calls are made once, and calls whose result
# nobody uses are dropped. The rest becomes a function.

# %%
class Traced(Arithmetic):
    """A value with a name. Calls go into a list of (name, operator, arguments)."""

    rank = 1

    def __init__(self, value, name, calls):
        self.value, self.name, self.calls = value, name, calls

    @property
    def shape(self):
        return shape_of(self.value)

    def take_over(self, op, args):
        texts = [arg.name if isinstance(arg, Traced) else repr(arg) for arg in args]
        value = op(*[arg.value if isinstance(arg, Traced) else arg for arg in args])
        out = Traced(value, f"v{len(self.calls)}", self.calls)
        self.calls.append((out.name, op, texts))
        return out

def shortened(calls, result):
    """The calls without repetitions, and without calls that nobody needs."""
    known, names, kept = {}, {}, []
    for name, op, texts in calls:
        texts = [names.get(text, text) for text in texts]
        first = known.setdefault((op, *texts), name)
        names[name] = first
        if first == name:
            kept.append((name, op, texts))
    needed, found = {names.get(result, result)}, []
    for name, op, texts in reversed(kept):
        if name in needed:
            needed.update(texts)
            found.insert(0, (name, op, texts))
    return found, names.get(result, result)

NAMES = {add: "add", mul: "mul", exp: "exp", tanh: "tanh", matmul: "matmul",
         transpose: "transpose", spread: "spread", gather: "gather"}

def compiled(function, example):
    """A function that repeats the calls of one run, for inputs like this one."""
    calls = []
    out = function(Traced(example, "x", calls))
    calls, result = shortened(calls, out.name)
    lines = [f"    {name} = {NAMES[op]}({', '.join(texts)})"
             for name, op, texts in calls]
    source = "\n".join(["def run(x):", *lines, f"    return {result}"])
    scope = {name: op.kernel for op, name in NAMES.items()}
    scope["array"] = np.array                            # how NumPy writes constants
    exec(source, scope)
    return scope["run"], source

step = gradient_of(lambda x: total(tanh(x * x) * x))
x = np.array([0.5, -1., 2.])
fast, source = compiled(step, x)
print(source)

other = np.array([1., 0.1, -0.3])
tx = torch.tensor(other, requires_grad=True)
(theirs,) = torch.autograd.grad((torch.tanh(tx * tx) * tx).sum(), tx)
print(same(fast(other), theirs))
#> def run(x):
#>     v0 = mul(x, x)
#>     v1 = tanh(v0)
#>     v4 = mul(x, array([1., 1., 1.]))
#>     v5 = mul(v1, array([1., 1., 1.]))
#>     v6 = mul(v1, v1)
#>     v7 = mul(v6, -1.0)
#>     v8 = add(1.0, v7)
#>     v9 = mul(v4, v8)
#>     v10 = mul(v9, x)
#>     v11 = add(v5, v10)
#>     v13 = add(v11, v10)
#>     return v13
#> True

# %% [markdown]
# A real compiler asks one more question before it repeats a list: is everything that the function used as it was? The
# page on [compiled functions](../compile.md) says how retrograd asks.
#
# ## What you have written
#
# | step | in retrograd |
# |---|---|
# | 2: the walk | `Pass` in `graph/engine.py` |
# | 3: operators | `Op` in `ops/framework.py` |
# | 3: nodes | `Node` in `graph/node.py` |
# | 4: broadcasting | `fit` in `graph/fit.py` |
# | 6: writes | `over` in `tensors/recording/inplace.py` |
# | 8, 9: tangents and batches | the files in `tensors/transforms/` |
# | 10: traces | the files in `compilation/` |
#
# One idea carries steps 7 to 10: *who stands behind the array decides what a call means.* The rules never change.
#
# ## Exercise
#
# Which operator is missing for a softmax, exp(x) / Σ exp(x)? Write it, with a rule, and use it to compute the softmax
# and the gradient of its first element. Then take the tangent of the softmax: what must you add?

# %% tags=["hide-cell"]
invert = Op(np.reciprocal, "x", x=lambda g, out: g * out * out * -1.)

def softmax(x):
    e = exp(x)
    return e * invert(total(e))

x = Tensor(np.array([1., 2., 0.5]), wanted=True)
first = np.array([1., 0., 0.])
(mine,) = gradients(total(softmax(x) * first), [x])

tx = torch.tensor([1., 2., 0.5], dtype=torch.float64, requires_grad=True)
(theirs,) = torch.autograd.grad(torch.softmax(tx, 0)[0], tx)
print(same(mine, theirs))

# For the tangent, nothing is missing: invert works element by element.
print(same(softmax(Dual(x.value, first)).tangent, theirs))
#> True
#> True

# %% [markdown]
# ## Where to read the source
#
# [How a value and its gradient travel](../tour.md) leads through the real files, and [reading the source in an
# afternoon](reading.py) says what to look for.
#
# Next: [read a paper's gradient](papers.py). {download}`This page as a script <ten_steps.py>`.
