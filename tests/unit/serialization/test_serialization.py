"""`torch.save` and `torch.load`: what goes round, what stays shared, and which objects and arguments are refused."""

from __future__ import annotations

import io
import pickle
import warnings
import zipfile
from collections import Counter, OrderedDict, namedtuple
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import retrograd as torch
from retrograd import nn
from retrograd.foundations.dtypes import ALL

Point = namedtuple("Point", "x y")

SCALARS = (st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.complex_numbers()
           | st.sampled_from([*ALL, torch.device("cpu"), torch.device("cuda", 1), -(2**63), 2**63]))
ARRAYS = hnp.arrays(st.sampled_from([d.dtype for d in ALL]), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0))


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """Of any dtype, shape and strides; some require grad, some are parameters."""
    tensor = torch.from_numpy(draw(ARRAYS))
    tensor = tensor.permute(draw(st.permutations(range(tensor.dim()))))
    if tensor.dim() and draw(st.booleans()):
        tensor = tensor[draw(st.integers(0, 2)):: draw(st.integers(1, 3))]
    requires_grad = (tensor.is_floating_point() or tensor.is_complex()) and draw(st.booleans())
    if draw(st.booleans()):
        return nn.Parameter(tensor, requires_grad)
    return tensor.requires_grad_() if requires_grad else tensor


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.text() | st.integers() | st.tuples(st.integers(), st.text())
    return (st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple)
            | st.dictionaries(keys, inner, max_size=4)
            | st.dictionaries(keys, inner, max_size=4).map(OrderedDict)
            | st.lists(st.integers(0, 9)).map(torch.Size) | st.text().map(Counter))


def saved(obj: Any) -> bytes:
    file = io.BytesIO()
    torch.save(obj, file)
    return file.getvalue()


def round_trip(obj: Any) -> Any:
    return torch.load(io.BytesIO(saved(obj)))


def same(a: Any, b: Any) -> bool:
    """Whether two objects have equal types and values, all the way down; a nan is equal to a nan."""
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        strided = a.numel() == 0 or a.stride() == b.stride()
        return (a.dtype is b.dtype and a.shape == b.shape and a.requires_grad == b.requires_grad and strided
                and a.detach().numpy().tobytes() == b.detach().numpy().tobytes())
    if isinstance(a, dict):
        return same([*a.items()], [*b.items()])
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return repr(a) == repr(b) if isinstance(a, float | complex) else bool(a == b)


@given(st.recursive(SCALARS | tensors(), containers, max_leaves=12))
def test_what_is_saved_comes_back(obj: Any) -> None:
    assert same(round_trip(obj), obj)


@given(st.recursive(SCALARS | tensors(), containers, max_leaves=6))
def test_saving_what_was_loaded_gives_the_same_file(obj: Any) -> None:
    file = saved(round_trip(obj))                        # views without elements keep their strides only in memory
    assert saved(torch.load(io.BytesIO(file))) == file


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_views_of_one_memory_share_it_again(rows: int, columns: int, data: st.DataObject) -> None:
    base = torch.arange(rows * columns).reshape(rows, columns)
    row, column = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    loaded = round_trip({"views": [base[row], base[:, column]], "base": base, "transposed": base.T, "data": base.data})
    loaded["base"][row, column] = -1
    assert loaded["views"][0][column] == loaded["views"][1][row] == -1
    assert loaded["transposed"][column, row] == loaded["data"][row, column] == -1
    loaded["views"][0][column] = -2
    assert loaded["base"][row, column] == -2


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2]])
def test_slices_of_an_array_that_begin_at_one_place(order: list[int]) -> None:
    numbers = np.arange(10.0).reshape(5, 2)
    slices = [torch.from_numpy(numbers[:3]), torch.from_numpy(numbers), torch.from_numpy(numbers[3:])]
    assert [each.untyped_storage().nbytes() for each in slices] == [48, 80, 32]
    for found, i in zip(round_trip([slices[i] for i in order]), order, strict=True):
        assert torch.equal(found, slices[i])


def test_memories_that_were_apart_stay_apart() -> None:
    a, b = round_trip([torch.ones(2), torch.ones(2)])
    a.zero_()
    assert b.tolist() == [1, 1]


def test_integers_may_be_of_any_length() -> None:
    assert round_trip(-(10**5000)) == -(10**5000)


def test_an_object_that_stands_twice_is_one_again() -> None:
    weight, shared = nn.Parameter(torch.ones(2)), [1]
    loaded = round_trip({"a": weight, "b": weight, "lists": (shared, shared)})
    assert loaded["a"] is loaded["b"]
    assert loaded["lists"][0] is loaded["lists"][1]


def test_views_of_other_dtypes_are_refused() -> None:
    number = torch.tensor([1 + 2j])
    with pytest.raises(RuntimeError, match="Cannot save multiple tensors or storages that view the same data as diff"):
        saved([number, torch.view_as_real(number)])


def test_the_whole_storage_is_saved() -> None:
    assert len(saved(torch.zeros(100_000)[:3])) > 400_000
    part = round_trip(torch.arange(6.)[2:4])
    assert (part.storage_offset(), part.untyped_storage().nbytes()) == (2, 24)
    assert len(saved(torch.zeros(1).expand(100_000))) < 2000
    assert round_trip(torch.zeros(1).expand(3)).stride() == (0,)


def test_what_was_computed_comes_back_as_a_leaf_without_gradient() -> None:
    x = torch.ones(2, requires_grad=True)
    (x * x).sum().backward()
    square, leaf = round_trip([x * x, x])
    assert square.is_leaf
    assert square.requires_grad
    assert leaf.grad is None


def test_what_is_loaded_can_be_trained() -> None:
    x = round_trip(torch.ones(2, requires_grad=True))
    (x * 3).sum().backward()
    with torch.no_grad():
        x -= x.grad
    assert x.tolist() == [-2, -2]


def test_attributes_are_kept() -> None:
    buffer = nn.Buffer(torch.ones(2), persistent=False)
    buffer.note = ["seen", buffer.detach()]
    loaded = round_trip(buffer)
    assert isinstance(loaded, nn.Buffer)
    assert not loaded.persistent
    loaded.zero_()
    assert loaded.note[0] == "seen"
    assert loaded.note[1].tolist() == [0, 0]


def test_a_state_dict_with_tied_weights() -> None:
    def tied() -> nn.Module:
        model = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
        model[2].weight = model[0].weight
        return model

    model, other = tied(), tied()
    state = round_trip(model.state_dict())
    assert state._metadata == model.state_dict()._metadata
    state["0.weight"][0, 0] = 7
    assert state["2.weight"][0, 0] == 7
    other.load_state_dict(round_trip(model.state_dict()))
    x = torch.ones(2, 3)
    assert torch.equal(other(x), model(x))


@pytest.mark.parametrize("make", [
    lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    lambda p: torch.optim.Adam(p, lr=0.1, amsgrad=True),
    lambda p: torch.optim.AdamW(p, lr=torch.tensor(0.1)),
])
def test_training_goes_on_where_it_was_saved(make: Any, tmp_path: Path) -> None:
    def step(x: torch.Tensor, optimizer: Any, schedule: Any) -> None:
        optimizer.zero_grad()
        x.exp().sum().backward()
        optimizer.step()
        schedule.step()

    def start(x: torch.Tensor) -> tuple[torch.Tensor, Any, Any]:
        optimizer = make([x])
        return x, optimizer, torch.optim.lr_scheduler.MultiStepLR(optimizer, [1, 3])

    first = start(nn.Parameter(torch.tensor([1., 2.])))
    step(*first)
    step(*first)
    torch.save([first[0], first[1].state_dict(), first[2].state_dict()], tmp_path / "checkpoint")
    x, optimizer_state, schedule_state = torch.load(tmp_path / "checkpoint")
    second = start(x)
    second[1].load_state_dict(optimizer_state)
    second[2].load_state_dict(schedule_state)
    for run in (first, second):
        step(*run)
        step(*run)
    assert torch.equal(first[0], second[0])


# Files


@pytest.mark.parametrize("kind", [str, Path])
def test_names_and_paths(kind: Any, tmp_path: Path) -> None:
    name = kind(tmp_path / "x.pt")
    torch.save([1], name)
    torch.save(torch.ones(2), name)
    assert torch.load(name).tolist() == [1, 1]
    with open(name, "rb") as file:
        assert torch.load(file).tolist() == [1, 1]


def test_the_members_of_a_file(tmp_path: Path) -> None:
    torch.save({"w": torch.eye(2)}, tmp_path / "x.pt")
    with zipfile.ZipFile(tmp_path / "x.pt") as archive:
        assert archive.namelist() == [f"x/{name}" for name in (
            "data.pkl", ".format_version", ".storage_alignment", "byteorder", "data/0", "version")]
        assert np.frombuffer(archive.read("x/data/0"), np.float32).tolist() == [1, 0, 0, 1]
        place = archive.getinfo("x/data/0").header_offset
    content = (tmp_path / "x.pt").read_bytes()
    assert content.index(np.eye(2, dtype=np.float32).tobytes(), place) % 64 == 0


def test_an_object_behind_something_else_in_the_file() -> None:
    file = io.BytesIO(b"before")
    file.seek(6)
    torch.save([1], file)
    file.seek(6)
    assert torch.load(file) == [1]
    file.seek(0)
    with pytest.raises(RuntimeError, match="(?s)more than one saved object.*the object at byte 0"):
        torch.load(file)


def test_there_is_nothing_behind_the_object() -> None:
    file = io.BytesIO()
    torch.save(1, file)
    with pytest.raises(EOFError, match=r"call f.seek\(0\) before"):
        torch.load(file)
    file.seek(0)
    torch.load(file)
    with pytest.raises(EOFError):
        torch.load(file)


@pytest.mark.parametrize("module", ["gzip", "bz2", "lzma"])
def test_compressed_files(module: str, tmp_path: Path) -> None:
    compression = import_module(module)
    with compression.open(tmp_path / "file", "wb") as file:
        file.write(b"before")
        torch.save([torch.arange(100.), 1], file)
    with compression.open(tmp_path / "file") as file:
        file.seek(6)
        found = torch.load(file)
    assert torch.equal(found[0], torch.arange(100.))
    assert found[1] == 1


def test_files_of_programs_have_few_methods() -> None:
    class Written:
        content = b""

        def write(self, data: Any) -> None:
            self.content += bytes(data)

        def flush(self) -> None:
            pass

    class Read:
        def __init__(self, content: bytes) -> None:
            file = io.BytesIO(content)
            self.read, self.tell, self._seek = file.read, file.tell, file.seek

        def seek(self, *place: int) -> None:
            self._seek(*place)

    written = Written()
    torch.save(torch.arange(3), written)
    assert torch.load(Read(written.content)).tolist() == [0, 1, 2]
    assert torch.serialization.get_unsafe_globals_in_checkpoint(Read(written.content)) == []
    del Read.seek
    with pytest.raises(AttributeError, match=r"^'Read' object has no attribute 'seek'. You can only torch.load"):
        torch.load(Read(written.content))


def test_what_is_no_file() -> None:
    with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object with a 'write'"):
        torch.save(1, 5)
    with pytest.raises(AttributeError, match="'int' object has no attribute 'seek'. You can only torch.load from a"):
        torch.load(5)
    with pytest.raises(TypeError, match="binary mode, 'wb'"):
        torch.save(1, io.StringIO())
    with pytest.raises(AssertionError, match="binary mode, 'rb'"):
        torch.load(io.StringIO())


def test_paths_that_do_not_exist(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="Parent directory .*nowhere does not exist"):
        torch.save(1, tmp_path / "nowhere" / "x")
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "x")


# Arguments


@pytest.mark.parametrize("place", [None, "cpu", "cpu:0", torch.device("cpu"), {"cuda:0": "cpu"}, {},
                                   lambda storage, location: storage])
def test_places_to_load_to(place: Any) -> None:
    assert torch.load(io.BytesIO(saved(torch.ones(1))), map_location=place).tolist() == [1]


@pytest.mark.parametrize(("place", "error", "message"), [
    ("cuda", RuntimeError, "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False"),
    ({"cpu": "cuda:0"}, RuntimeError, "Attempting to deserialize object on a CUDA device"),
    ("moon", RuntimeError, "don't know how to restore data location of torch.storage.UntypedStorage (tagged with moon"),
    (1, TypeError, "'int' object is not callable"),
])
def test_places_that_are_refused(place: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message.replace("(", r"\(").replace(")", r"\)")):
        torch.load(io.BytesIO(saved(torch.ones(1))), map_location=place)
    assert torch.load(io.BytesIO(saved(1)), map_location=place) == 1


def test_options_of_pickles(tmp_path: Path) -> None:
    path = tmp_path / "file.pt"
    torch.save(1, path, pickle_module=pickle, pickle_protocol=4, _use_new_zipfile_serialization=False)
    with pytest.warns(UserWarning, match="runs the code that the file names"):
        assert torch.load(path, None, pickle, mmap=True, weights_only=False) == 1
    with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
        torch.load(io.BytesIO(saved(1)), mmap=True)
    with pytest.raises(RuntimeError, match="Can not safely load weights when explicit pickle_module is specified"):
        torch.load(path, None, pickle, weights_only=True)


def test_options_of_a_pickle_say_that_data_has_none(tmp_path: Path) -> None:
    torch.save(torch.ones(2), tmp_path / "x.pt")
    with pytest.warns(UserWarning, match="^pickle_load_args only works if `weights_only=False`.$"):
        assert torch.load(tmp_path / "x.pt", encoding="ascii").tolist() == [1, 1]



def test_the_environment_says_whether_files_are_read_as_data(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO(saved([slice(1)]))
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "yes")
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file, weights_only=False)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(RuntimeError, match="should be set, but both were set"):
        torch.load(file)
    monkeypatch.delenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD")
    file.seek(0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert torch.load(file) == [slice(1)]
    assert "forcing weights_only=False" in str(seen[0].message)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file, weights_only=True)


def test_a_default_device_leaves_what_is_loaded_where_it_was() -> None:
    model = torch.nn.Linear(1, 1)
    file = io.BytesIO(saved({**model.state_dict(), "half": torch.ones(2, dtype=torch.float16)}))
    with torch.device("meta"):
        loaded = torch.load(file)
        assert torch.ones(1).is_meta
    assert loaded["weight"].item() == model.weight.item()
    assert loaded["half"].tolist() == [1, 1]


def test_a_function_says_where_a_storage_goes() -> None:
    places = []

    def place(storage: Any, location: str) -> Any:
        places.append((type(storage), location))
        return torch.UntypedStorage([0, 0, 0, 64] * 2)

    assert torch.load(io.BytesIO(saved(torch.ones(2))), map_location=place).tolist() == [2, 2]
    assert places == [(torch.UntypedStorage, "cpu")]
