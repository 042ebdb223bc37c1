"""The changes that a call makes: effects, which a replay repeats, and those that it cannot repeat."""

from typing import Any

import numpy as np
import pytest

import retrograd as torch
from comparing.optimizers import usual_optimizers
from compiled.cases import Holder, Net, changed, why
from retrograd.compilation.guards.guard import make
from retrograd.compilation.reach.state import changes, walk
from retrograd.foundations.modes import standing
from seam.tape import Tape, Traced


def test_nothing_is_changed_by_a_pure_call() -> None:
    model, x = Net(), torch.ones(1, 3)
    assert changed(lambda x: model(x), x) == ([], [], [])


def test_gradients_are_effects() -> None:
    p, q = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    q.grad = torch.ones(2)

    def step() -> None:
        (p * 3).sum().backward()
        q.grad = None

    found = changed(step)
    assert {effect.words for effect in found.effects} == {"q.grad", "p.grad"}
    assert found.unrepeatable == []
    assert found.replaced == []
    made, p.grad, q.grad = torch.zeros(2), None, torch.ones(2)
    for effect in found.effects:
        effect.apply(lambda value: made)
    assert p.grad is made
    assert q.grad is None


def test_the_gradient_of_an_argument_is_an_effect() -> None:
    x, other, made = (torch.ones(2, requires_grad=True) for _ in range(3))

    def step(x: Any) -> None:
        (x * 3).sum().backward()

    effect, = changed(step, x).effects
    assert effect.words == "argument x.grad"
    assert effect.anchor is None
    effect.apply(lambda value: made.detach(), (other,))
    assert other.grad is not None
    assert effect.holder((other,)) is other


@pytest.mark.parametrize("kind", usual_optimizers())
def test_the_first_step_of_an_optimizer_makes_its_state(kind: str) -> None:
    p = torch.ones(2, requires_grad=True)
    options = {"momentum": 0.9} if kind == "SGD" else {}
    optimizer = getattr(torch.optim, kind)([p], lr=0.1, **options)

    def step() -> None:
        (p * p).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    first, second = changed(step), changed(step)
    assert first.unrepeatable == []
    assert second.unrepeatable == []
    assert second.effects == []
    if kind == "Adagrad":
        return                                               # it makes its state when it is constructed
    state = optimizer.state[p]
    optimizer.state.clear()
    for effect in first.effects:
        assert effect.words.startswith("optimizer.state[p]")
        effect.apply(lambda value: value + 1)
    assert optimizer.state[p].keys() == state.keys()
    assert all(value is not state[key] for key, value in optimizer.state[p].items() if torch.is_tensor(value))


def test_tensors_in_attributes_items_and_variables_are_effects() -> None:
    holder = Holder(value=torch.ones(2), table={"a": torch.ones(1)}, row=[torch.ones(1), 2], last=torch.ones(1))
    local = torch.ones(2)

    def step() -> None:
        nonlocal local
        local = local * 2
        holder.value = holder.value + 1
        holder.table["a"] = holder.table["a"] + 1
        holder.table["b"] = {"sum": holder.value.sum(), "parts": (holder.value, 3, [local])}
        holder.row[0] = holder.row[0] * 2
        holder.last = None
        holder.fresh = [local]

    old = local
    found = changed(step)
    assert found.unrepeatable == []
    assert {effect.words for effect in found.effects} == {
        "local", "holder.value", "holder.table['a']", "holder.table['b']", "holder.row[0]", "holder.last",
        "holder.fresh"}
    assert {item.words for item in found.replaced} == {"local", "holder.value", "holder.table['a']", "holder.row[0]"}
    made: dict[int, Any] = {}
    for effect in found.effects:
        effect.apply(lambda value: made.setdefault(id(value), torch.zeros(5)))
    assert local is not old
    assert local.shape == (5,)
    assert holder.last is None
    assert holder.table["b"]["parts"][2][0] is holder.fresh[0] is local
    assert holder.table["b"]["parts"][:2] == (holder.value, 3)


def test_a_replaced_tensor_is_guarded_like_an_argument() -> None:
    holder = Holder(value=torch.ones(2))

    def step() -> None:
        holder.value = holder.value + 1

    before = walk(step, (), {})
    step()
    found = changes(before, walk(step, (), {}, before.mentioned))
    guard = make(before, found.replaced)
    assert why(guard, step) == ""
    assert guard.check(step, (), {}) == [holder.value]
    assert [before.items[i].words for i in guard.inputs] == [
        "holder.value"]
    holder.value = torch.ones(3)
    assert why(guard, step) == "holder.value has the shape (3,), and had (2,)"


def set_(**values: Any) -> Any:
    def change(holder: Any) -> None:
        vars(holder).update(values)
    return change


@pytest.mark.parametrize(("change", "said"), [
    (set_(count=2), "the attribute count of Holder was changed from 1 to 2"),
    (set_(count=torch.float32), "the attribute count of Holder was changed from 1 to torch.float32"),
    (set_(log=[3]), "the attribute log of Holder was replaced by another object"),
    (lambda holder: holder.log.append(1), "the list argument holder.log grew from 0 to 1 entries"),
    (lambda holder: holder.log.append(torch.ones(1)), "the list argument holder.log grew from 0 to 1 entries"),
    (lambda holder: holder.table.pop("a"), "the entry 'a' of argument holder.table was removed"),
    (lambda holder: holder.table.update(a=2), "the entry 'a' of argument holder.table was changed from 1 to 2"),
    (lambda holder: holder.table.update(a=holder.table.pop("a")), "the keys of argument holder.table were put in "
                                                                 "another order"),
    (lambda holder: holder.table.update(b=Holder()), "the entry 'b' of argument holder.table was added"),
    (lambda holder: holder.kinds.add(3), "the elements of argument holder.kinds were changed"),
    (lambda holder: holder.array.fill(3), "the numbers of argument holder.array were changed"),
    (lambda holder: holder.value.requires_grad_(), "the requires_grad of the tensor argument holder.value was changed"),
    (lambda holder: holder.value.t_(), "the shape of the tensor argument holder.value was changed"),
    (lambda holder: setattr(holder, "__class__", Net), "the class of argument holder was changed"),
])
def test_other_changes_cannot_be_repeated(change: Any, said: str) -> None:
    holder = Holder(count=1, name="a", log=[], table={"a": 1, "z": 0}, value=torch.ones(2, 3), kinds={1, 2},
                    array=np.ones(2), model=Net())

    def step(holder: Any) -> None:
        vars(holder)
        change(holder)

    found = changed(step, holder)
    assert found.unrepeatable[:1] == [said]
    assert found.effects == []


@pytest.mark.parametrize("change", [
    set_(name="b"), set_(name=None), set_(nothing=3), set_(nothing="c"), lambda holder: holder.model.eval(),
    lambda holder: holder.table.update(z=None)])
def test_flags_and_texts_are_set_again(change: Any) -> None:
    """The guard asks for the former constant, and there are few of them."""
    holder = Holder(name="a", nothing=None, table={"z": 0}, model=Net())

    def step(holder: Any) -> None:
        vars(holder)
        change(holder)

    found = changed(step, holder)
    assert found.unrepeatable == []
    assert len(found.effects) >= 1


@pytest.mark.parametrize("backend", ["numpy", None])
def test_a_step_that_sets_flags_is_compiled(backend: str | None) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.5))
    plain, other = (Holder(ready=False, phase="start", last=None, calls=0) for _ in range(2))

    def made(holder: Any) -> Any:
        def step(x: torch.Tensor, phase: str) -> Any:
            first = not holder.ready
            holder.ready, holder.phase, holder.last = True, phase, x.shape[0]
            holder.calls += 1
            (model.eval if phase == "test" else model.train)()
            return model(x).sum() * 0 + holder.calls, first, model.training

        return step

    step, compiled = made(plain), torch.compile(made(other), backend=backend, fullgraph=True)
    for phase, size in (("train", 3), ("train", 3), ("test", 3), ("train", 3), ("test", 3), ("test", 4), ("train", 5)):
        x = torch.ones(size, 2)
        one, was = step(x, phase), model.training
        model.train(not was)
        model.train(was)
        two = compiled(x, phase)
        assert (one[0].item(), *one[1:]) == (two[0].item(), *two[1:])
        assert vars(plain) == vars(other)
        assert model.training is was


def test_equal_lists_in_place_of_others_are_made_again() -> None:
    """Who holds the old list sees no change of the new one."""
    holder, old = Holder(value=[1, (2, 3)], other=(1, 2)), [1, (2, 3)]

    def step() -> None:
        holder.value = [1, (2, 3)]
        holder.other = (1, 2)

    found = changed(step)
    assert (len(found.effects), found.unrepeatable, found.replaced) == (1, [], [])
    holder.value = old
    found.effects[0].apply(lambda value: value)
    assert holder.value == old
    assert holder.value is not old


def test_schedulers_change_numbers() -> None:
    p = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)

    def step() -> None:
        optimizer.step()
        scheduler.step()

    assert changed(step).unrepeatable == [
        "the entry 'lr' of optimizer.param_groups[0] was changed from 0.1 to 0.010000000000000002"]


def test_lists_that_hold_themselves() -> None:
    holder = Holder(value=[1], other=[])
    holder.value.append(holder.value)

    def step() -> None:
        holder.value = [1]
        holder.value.append(holder.value)
        holder.other = [torch.ones(1)]
        holder.other.append(holder.other)

    assert len(changed(step).unrepeatable) == 2


def test_a_traced_step_of_an_optimizer() -> None:
    """While a step is traced, the arrays behind tensors are none of NumPy's."""
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())

    def step(x: Any) -> Any:
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        return loss

    x, tape = torch.ones(3, 2), Tape()
    before = walk(step, (x,), {})
    for item in before.tensors():
        item.value._array = tape.value(item.array)
    with standing(tape.record):
        step(x)
    found = changes(before, walk(step, (x,), {}, before.mentioned))
    assert found.unrepeatable == []
    assert {effect.words for effect in found.effects} == {
        "model.weight.grad", "model.bias.grad", "optimizer.state[model.weight]", "optimizer.state[model.bias]"}
    made = [tensor for effect in found.effects if effect.whole is not None for tensor in effect.whole.tensors()]
    assert len(made) == 2 + 2 * 3
    assert all(isinstance(tensor._array, Traced) for tensor in made)
    for item in before.tensors():
        item.value._array = item.array
    assert not make(before, found.replaced)(step, (x,), {})


def test_tensors_that_move_on_are_others_in_each_call() -> None:
    holder = Holder(now=torch.ones(1), former=torch.zeros(1), state=(torch.ones(2), [torch.ones(2)]))

    def step(x: Any) -> None:
        holder.former, holder.now = holder.now, holder.now + 1
        holder.state = (holder.state[0] + 1, [x])

    x = torch.ones(2)
    before = walk(step, (x,), {})
    now = holder.now
    step(x)
    found = changes(before, walk(step, (x,), {}, before.mentioned))
    assert {item.words for item in found.replaced} == {"holder.now", "holder.former", "holder.state[0]",
                                                       "holder.state[1][0]"}
    tensors = {effect.words: [*effect.whole.tensors()] for effect in found.effects if effect.whole is not None}
    assert tensors["holder.former"] == [now]
    assert tensors["holder.state"][1] is x
    holder.state = (holder.state[0], [torch.ones(2)])        # the argument and a captured tensor are not the same
    guard = make(before, found.replaced)
    assert why(guard, step, torch.ones(2)) == ""
    assert {before.items[number].words for number in guard.inputs} == {
        "argument x", *[item.words for item in found.replaced]}


def _doubled(x: Any, y: Any) -> Any:
    x.data = x.data * 2
    return x + y


def _set(x: Any, y: Any) -> Any:
    x.set_(x * 2)
    return x + y


def _swapped(x: Any, y: Any) -> Any:
    x.data, y.data = y.data, x.data * 3
    return x - y


def _copied_and_written(x: Any, y: Any) -> Any:
    x.data = x.data.clone()
    x.add_(1)
    return x


@pytest.mark.filterwarnings("ignore:torch.compile runs")
@pytest.mark.parametrize("step", [_doubled, _set, _swapped, _copied_and_written])
def test_an_argument_that_is_given_other_memory(step: Any) -> None:
    found = []
    for function in (step, torch.compile(step)):
        x, y = torch.ones(3), torch.full((3,), 2.0)
        found.append([*[function(x, y).tolist() for _ in range(4)], x.tolist(), y.tolist()])
    assert found[0] == found[1]
