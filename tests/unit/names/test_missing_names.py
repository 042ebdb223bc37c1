"""What retrograd says about names that it lacks: PyTorch has the name and what to use instead, or the nearest names."""

from __future__ import annotations

import difflib
import importlib
import random
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from functools import reduce
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, strategies as st

import retrograd
from retrograd.foundations import names, shells
from retrograd.foundations.names import in_pytorch, instead, missing, near, nearest, remedies
from retrograd.tensors.face.absent import _ABSENT

SPACES = [*names._table()]


def only_there(space: str, name: str) -> str:
    """The sentence about a name that only PyTorch has."""
    return f". PyTorch has `{space}.{name}`; retrograd has not"


def at(path: str) -> Any:
    """What stands at a path such as `torch.nn.functional`."""
    return reduce(getattr, path.split(".")[1:], retrograd)


def lacking(space: str) -> list[str]:
    """The names of PyTorch's namespace that are not here, neither as an attribute nor as a file."""
    home = at(space)
    return sorted(name for name in in_pytorch(space) if not hasattr(home, name)
                  and not (hasattr(home, "__path__") and find_spec(f"{home.__name__}.{name}")))


def test_the_tables_are_read_only_when_a_name_is_missing() -> None:
    program = ("import retrograd; tables = retrograd.foundations.names._table, retrograd.foundations.names.remedies\n"
               "print([t.cache_info().currsize for t in tables], hasattr(retrograd, 'quantized_gru'))\n"
               "print([t.cache_info().currsize for t in tables])")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "[0, 0] False\n[1, 1]\n"


@pytest.mark.parametrize("space", SPACES)
def test_names_that_only_pytorch_has_are_refused_with_a_word_about_it(space: str) -> None:
    home = at(space)
    said = f"type object '{home.__name__}'" if isinstance(home, type) else f"module '{space}'"
    for name in lacking(space):
        if space == "torch.nn.Module":
            home, said = retrograd.nn.Linear(1, 1), "'Linear' object"
        with pytest.raises(AttributeError) as caught:
            getattr(home, name)
        assert str(caught.value).startswith(f"{said} has no attribute '{name}'{only_there(space, name)}")
        assert caught.value.name is None                        # or Python appends a suggestion of its own


def test_tensors_say_the_same_of_each_attribute_that_is_absent() -> None:
    assert {*lacking("torch.Tensor")} == _ABSENT
    t = retrograd.ones(2)
    with pytest.raises(AttributeError, match=r"^'Tensor' object has no attribute 'to_mkldnn'\. PyTorch .* as it is"):
        t.to_mkldnn()
    assert not hasattr(t, "slice_inverse")
    assert not _ABSENT & {*dir(t)}
    t.to_mkldnn = 3                                               # a program may have attributes of that name
    assert t.to_mkldnn == 3


@pytest.mark.parametrize(
    ("space", "name", "advice"),
    [
        ("torch.jit", "CompilationUnit", "leave script and trace out, and call the function or the module as it is"),
        ("torch", "quantized_max_pool2d", "use floating-point tensors"),
        ("torch.cuda", "CUDAGraph", "leave it out, because everything is computed on the CPU"),
        ("torch.Tensor", "to_mkldnn", "use the tensor as it is"),
    ],
)
def test_the_advice(space: str, name: str, advice: str) -> None:
    assert instead(space, name) == f"{only_there(space, name)}: {advice}"


def test_advice_names_only_what_is_here() -> None:
    for _, advice in remedies():
        for path in re.findall(r"\btorch(?:\.\w+)+", advice):
            assert at(path) is not None, path


def refusing(space: str) -> list[str]:
    """The names of PyTorch's namespace that stand here only for imports. Their calls give the advice."""
    said = f"Raise NotImplementedError: retrograd has no `{space}."
    return [name for name in in_pytorch(space) if (getattr(at(space), name, None).__doc__ or "").startswith(said)]


def test_each_pattern_gives_its_advice_to_some_name() -> None:
    used = set()
    for space in dict.fromkeys([*SPACES, *shells.rows()]):
        names = [f"{space}.{name}" for name in lacking(space) + refusing(space) + shells.listed(space)]
        for path in (space, *names):
            used.add(next((pattern for pattern, _ in remedies() if fnmatchcase(path, pattern)), ""))
    assert {pattern for pattern, _ in remedies()} - used == set()


def test_missing_speaks_to_each_way_of_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("retrograd.imagined")
    module.__getattr__, _ = missing(module.__name__, ["softmax", "Softmax", "sin"])  # type: ignore[method-assign]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert not hasattr(module, "sofmax")
    with pytest.raises(AttributeError, match="^module 'torch.imagined' has no attribute 'sofmax'\n  near") as unknown:
        _ = module.sofmax
    assert unknown.value.__notes__ == ["  nearest    Softmax, softmax"]
    said = r"^cannot import name 'sofmax' from 'torch.imagined' \(retrograd\)\n"
    with pytest.raises(ImportError, match=said) as caught:
        exec("from retrograd.imagined import sofmax")
    assert (caught.value.name, caught.value.__notes__) == ("torch.imagined", unknown.value.__notes__)
    with pytest.raises(AttributeError, match="^module 'torch.imagined' has no attribute 'zzz'$"):
        _ = module.zzz


def test_the_nearest_names_answer_a_typing_mistake_alone() -> None:
    assert nearest("torch.imagined", "reLU", ["relu", "sin"]) == "relu"
    assert nearest("torch.imagined", "lstm", ["LSTM"], modules=True) == "torch.imagined.LSTM"
    assert nearest("torch.imagined", "conv2d", ["sin"]) == ""
    assert nearest("torch.imagined", "__wrapped__", ["__wrapped_"]) == ""
    assert nearest("torch", "compleks", ["complex", "sin"]) == "complex"
    assert nearest("torch", "int_", ["int", "sin"]) == "int"
    assert nearest("torch.imagined", "SDG", ["SGD", "ASGD"]) == "SGD"         # two letters exchanged
    assert nearest("torch.imagined", "runn", ["trunc", "rand", "round"]) == "round, trunc"


@given(st.text("abcdefgxyz_é", max_size=12), st.integers(0, 2**32))
def test_near_is_what_difflib_finds(word: str, seed: int) -> None:
    """Names with few letters in common are left out before. A part of the words are names with letters changed."""
    names = sorted(in_pytorch("torch"))
    draws = random.Random(seed)
    for asked in (word, "".join(draws.sample(word, len(word))), draws.choice(names)[1:] + word[:2]):
        alike = difflib.get_close_matches(asked, names, len(names), 0.66)
        close = difflib.get_close_matches(asked, alike, 3, 0.75)                   # of all names there are no others
        found = near(asked, names)
        if close and len(asked) >= 6:
            assert found == close
        assert {*found} <= {*alike} | {name for name in names if sorted(name) == sorted(asked)}


def test_a_file_of_a_package_is_no_name_that_only_pytorch_has() -> None:
    for name, classes in (("adam", "Adam, RAdam, NAdam"), ("sgd", "SGD, ASGD")):
        importlib.import_module(f"retrograd.optim.{name}")
        said = f"^module 'torch.optim' has no attribute '{name}'\n  nearest    {classes}$"
        with pytest.raises(AttributeError, match=said):
            getattr(retrograd.optim, name)


def test_a_name_is_looked_for_once_in_the_same_names() -> None:
    before = names._nearest.cache_info()
    said = [nearest("torch.imagined", "cosh_", known) for known in (["cosh"], ["cosh"], ["sin"], ["cosh", "cosh1"])]
    assert said == ["cosh", "cosh", "", "cosh, cosh1"]
    assert names._nearest.cache_info().misses - before.misses == 3


def test_a_mistyped_name_that_only_pytorch_has_gets_the_advice_too() -> None:
    assert nearest("torch", "quantized_gruu", ["complex"]) == (
        "quantized_gru, which only PyTorch has: use floating-point tensors")


def test_a_function_is_no_module() -> None:
    assert "relu" in in_pytorch("torch")
    assert instead("torch", "relu", modules=True) == ""
    assert instead("torch", "distributions", modules=True).startswith(
        only_there("torch", "distributions"))
