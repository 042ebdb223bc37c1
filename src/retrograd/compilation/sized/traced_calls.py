"""What is compared of traced calls of a function, to find out how its calls depend on sizes."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...foundations.names import reached
from ...tensors.state.base import TensorBase
from ..guards.guard import Guard
from ..passes.effects import all_memory_written
from ..program import constants
from ..program.expressions import Expression
from ..program.formulas import Formulas
from ..program.lines import Program, Value
from ..program.sizes import Use
from ..program.stand_in_numbers import STAND_INS
from ..program.stand_ins import let_go
from ..reach import kinds
from ..reach.changes import Effect, Whole
from ..reach.places import Step
from ..repeat.recipe import Recipe
from ..trace.backward_plans import TracedBackward
from ..trace.describing import Description
from ..trace.results import Left
from .pairing import TracedProgram


class TracedCall(NamedTuple):
    """What is needed of a traced call to find out how the call depends on sizes.

    `places` says where the guard has the tensors of those values that are given to the plan. `left` is what the call
    has left behind, in a form that can be compared.
    """

    guard: Guard
    recipe: Recipe
    program: TracedProgram
    backs: list[TracedBackward]
    places: dict[int, int]
    left: Any
    views: list[Any]
    operands: list[int]
    formulas: Formulas | None
    uses: list[Use]


def traced_call(call: Description, places: dict[int, int], effects: list[Effect], result: TensorBase) -> TracedCall:
    """What is needed of a traced call that has returned `result`. It holds no memory of the arguments."""
    program, backs, recipe, left, uses = call.program, call.backs, call.recipe, call.left, call.recording.uses
    assert recipe is not None
    assert left is not None
    assert uses is not None
    views = [view._grad_meta.replay for view in left.views]
    values = [value.copied() for value in program.values]
    others = {*places, *[number for back in backs for number in back.given]}
    let_go(values, {value.number for value in values if value.source != "line"} - others)
    _keep_numbers(values, [program, *[back.program for back in backs]])
    # Gradients of gradients are for the sizes of one traced call.
    backs = [back._replace(program=back.program._replace(values=values), second=None) for back in backs]
    memory = {} if recipe.prepare is None else {id(array): i for i, array in enumerate(recipe.prepare.operands)}
    operands = sorted([value.number for value in values if id(value.like) in memory and value.source == "outside"],
                      key=lambda number: memory[id(values[number].like)])
    return TracedCall(call.guard, recipe, TracedProgram(program._replace(values=values), tuple(places)), backs, places,
                      left_behind(left, effects, result), views, operands, call.formulas, uses.noted)


def _keep_numbers(values: list[Value], programs: list[Program]) -> None:
    """Copy constants that are only read. The program may write to them before the call is compared with others."""
    written: set[int] = set()
    for program in programs:
        written |= all_memory_written(program._replace(values=values))
        written |= {values[number].memory for number in program.outputs}
    for value in values:
        if value.source == "constant" and value.memory not in written and value.like.nbytes <= kinds.CONTENT_LIMIT:
            value.like = value.like.copy(order="K")


def left_behind(left: Left, effects: list[Effect], result: TensorBase) -> Any:
    """What a traced call has left behind, to be compared with what another one has."""
    shown = _Shown(left)
    made = [(tensor._edge is None, tensor._edge is not None and tensor._edge.node is None, type(tensor),
             tensor._grad_meta is not None and (tensor._grad_meta.leaf, shown.part(tensor._grad_meta.grad)))
            for tensor in left.made]
    return (shown.part(result), made, [(shown.part(view._grad_meta.base), view._grad_meta.creation, view._edge is None,
                                        view._grad_meta.leaf) for view in left.views],
            [(id(effect.anchor), effect.steps, shown.place(effect.step), shown.whole(effect.whole))
             for effect in effects])


class _Shown:
    """The parts of what a call has left, in a form that can be compared."""

    def __init__(self, left: Left) -> None:
        self.left, self.things = left, left.before.known

    def part(self, value: Any) -> Any:
        """A part of a result."""
        if isinstance(value, TensorBase):
            return self._tensor(value)
        if type(value) in STAND_INS:
            return self._number(value.expression)
        if constants.is_constant(value):
            return type(value), repr(value)
        item = self.things.get(id(value))
        if item is not None:
            return "known", id(value) if item.fixed else item.words
        pytree = reached("utils._pytree")
        children, context = pytree.SUPPORTED_NODES[pytree._get_node_type(value)].flatten_fn(value)
        return type(value), repr(context), [self.part(child) for child in children]

    def _tensor(self, tensor: TensorBase) -> Any:
        item = self.left.known.get(id(tensor))
        if item is not None:
            return ("input", item.words) if item.number in self.left.inputs else ("captured", id(tensor))
        if id(tensor) in self.left.bases:
            return "base", self._tensor(self.left.bases[id(tensor)].value)
        return "made", self.left.places[id(tensor)]

    def place(self, step: Step) -> Step:
        """The place of an effect. A list that grows has another length in each call."""
        return step._replace(key=None) if step.kind == "append" else step

    def _number(self, expression: Expression) -> Any:
        if expression.what == "array":
            return "array", self._tensor(self.left.handed[id(expression)][1])
        return "number", self.left.number_place(expression)

    def whole(self, whole: Whole | None) -> Any:
        """The new value of an effect."""
        if whole is None:
            return None
        if whole.fresh and type(whole.value) is Expression:
            return self._number(whole.value)
        if whole.fresh:
            return self._tensor(whole.value)
        if whole.parts is None:
            return (type(whole.value), repr(whole.value)) if constants.is_constant(whole.value) else id(whole.value)
        return type(whole.value), [(repr(key), self.whole(part)) for key, part in whole.parts.items()]
