"""`viz.explore`: the document of a backward pass, checked against the pass itself; and that it leaves no trace."""

from __future__ import annotations

import gc
import json
import math
import re
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd import nn, viz
from retrograd.graph.node import AccumulateGrad
from retrograd.viz.graphs import beginnings, reachable

F = nn.functional


class Block(nn.Module):
    """A linear layer with a residual connection."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return x + self.linear(x).tanh()


class Net(nn.Module):
    """Two blocks, and a layer that is never called."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(4, 2)
        self.unused = nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def net_and_loss() -> tuple[Net, Callable[[], Any]]:
    torch.manual_seed(0)
    net, x = Net(), torch.randn(3, 4)
    return net, lambda: net(x).square().mean()


def node_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    """The only node with this name or label."""
    (found,) = [node for node in document["nodes"] if name in (node["name"], node["label"])]
    return dict(found)


def recorded_pass(loss: Any) -> list[tuple[Any, list[Any]]]:
    """The nodes of a real backward pass in the order in which their hooks ran, with the gradients that arrived."""
    seen: list[tuple[Any, list[Any]]] = []
    for node in reachable([node for node, _ in beginnings(loss)]):
        def note(gradients: Any, node: Any = node) -> None:
            seen.append((node, [None if g is None else g.clone() for g in gradients]))
        node.register_prehook(note)
    loss.backward()
    return seen


def loss_of_views() -> Any:
    x = torch.arange(6.).reshape(2, 3).requires_grad_()
    y = x * 2
    y[0] = y[1].exp()
    y.t().mul_(3)
    return (y * y).sum()


def loss_of_branches() -> Any:
    w, v = torch.tensor([1., 2., 3.], requires_grad=True), torch.ones(3, requires_grad=True)
    a, b = (w * v).split([1, 2])
    return a.sum() * b.sin().sum() + (w * w).sum() + torch.stack([w, v]).max(0).values.sum()


def loss_of_net() -> Any:
    _, loss = net_and_loss()
    return loss()


LOSSES = [loss_of_net, loss_of_branches, loss_of_views]


@pytest.mark.parametrize("make", LOSSES)
def test_steps_are_those_of_the_pass(make: Callable[[], Any]) -> None:
    loss = make()
    document = viz.explore(loss).document
    real = recorded_pass(loss)
    nodes = document["nodes"]
    shown = [nodes[step["node"]] for step in document["steps"]]
    assert [node["order"] for node in shown] == [*range(len(real))]
    assert [node["name"] for node in shown] == [node.name().rpartition("::")[2] for node, _ in real]
    for node, (_, gradients) in zip(shown, real, strict=True):
        squares = [float((g.double() ** 2).sum()) for g in gradients if g is not None]
        assert node["gradient"]["norm"] == pytest.approx(math.sqrt(sum(squares)), rel=1e-5)
        assert node["gradient"]["size"] == sum(g.numel() for g in gradients if g is not None)


@pytest.mark.parametrize("make", LOSSES)
def test_arrivals_add_up(make: Callable[[], Any]) -> None:
    document = viz.explore(make()).document
    arrivals: dict[int, list[dict[str, Any]]] = {}
    for step in document["steps"]:
        for arrival in step["arrivals"]:
            arrivals.setdefault(arrival["to"], []).append(arrival)
            links = [link for link in document["nodes"][step["node"]]["links"] if link is not None]
            assert [arrival["to"], arrival["output"]] in links
    for number, came in arrivals.items():
        outputs = [arrival["output"] for arrival in came]
        assert [arrival["adds"] for arrival in came] == [k in outputs[:i] for i, k in enumerate(outputs)]
        if len(came) == 1:
            assert document["nodes"][number]["gradient"]["norm"] == came[0]["norm"]


def test_leaves_have_the_gradients_that_backward_accumulates() -> None:
    net, loss = net_and_loss()
    document = viz.explore(loss, params=net).document
    loss().backward()
    for name, p in net.named_parameters():
        node = node_of(document, name)
        assert node["kind"] == "leaf"
        assert node["parameter"]
        assert node["module"] == name.rpartition(".")[0]
        if p.grad is None:
            assert (node["problem"], node["order"], node["gradient"]) == ("none", None, None)
            continue
        g = p.grad.double()
        stats = node["gradient"]
        expected = {"norm": g.norm(), "mean": g.mean(), "std": g.std(), "min": g.min(), "max": g.max()}
        for key, value in expected.items():
            assert stats[key] == pytest.approx(float(value), rel=1e-5, abs=1e-9)
        assert (stats["size"], stats["zeros"]) == (g.numel(), int((g == 0).sum()))
    assert document["totals"]["without_gradient"] == 2
    assert document["totals"]["parameters"] == len([*net.parameters()])


def test_operations_know_their_line_and_their_module() -> None:
    net, loss = net_and_loss()
    document = viz.explore(loss, params=net).document
    tanh = [node for node in document["nodes"] if node["name"] == "TanhBackward0"]
    assert [(node["module"], node["class"]) for node in tanh] == [("layers.1", "Block"), ("layers.0", "Block")]
    site = tanh[0]["site"]
    assert site["function"] == "forward"
    assert document["sources"][site["file"]][str(site["line"])].strip() == "return x + self.linear(x).tanh()"
    linear = [node for node in document["nodes"] if node["name"] == "AddmmBackward0"]
    assert [node["module"] for node in linear] == ["head", "layers.1.linear", "layers.0.linear"]
    mean = node_of(document, "MeanBackward0")
    assert mean["module"] is None
    assert mean["site"]["function"] == "<lambda>"
    paths = {group["path"] for group in document["groups"]}
    assert {"layers.0", "layers.1"} <= paths


def test_a_loss_from_outside_gets_modules_by_the_names_of_parameters() -> None:
    net, loss = net_and_loss()
    document = viz.explore(loss(), params=net).document
    linear = [node for node in document["nodes"] if node["name"] == "AddmmBackward0"]
    assert [node["module"] for node in linear] == ["head", "layers.1.linear", "layers.0.linear"]
    assert all(node["site"] is None for node in document["nodes"])
    assert not document["sources"]


def test_names_of_parameters_may_be_given_once() -> None:
    net, loss = net_and_loss()
    document = viz.explore(loss(), params=net.named_parameters()).document
    labels = [node["label"] for node in document["nodes"] if node["kind"] == "leaf"]
    assert sorted(labels) == sorted(name for name, _ in net.named_parameters())


def test_leaves_get_the_names_of_variables() -> None:
    weight = torch.ones(2, requires_grad=True)
    assert [node["label"] for node in viz.explore((weight * 2).sum()).document["nodes"]] == [
        "SumBackward0", "MulBackward0", "weight"]


def modules_of(document: dict[str, Any], name: str) -> list[Any]:
    return [node["module"] for node in document["nodes"] if node["name"] == name]


def test_several_modules_of_one_program_keep_apart() -> None:
    maker, judge, error = nn.Sequential(nn.Linear(2, 2)), nn.Sequential(nn.Linear(2, 1)), nn.MSELoss()
    with viz.recording():
        loss = error(judge(maker(torch.ones(1, 2))), torch.ones(1, 1))
        alone = error(judge(torch.ones(1, 2)), torch.ones(1, 1))
    document = viz.explore(loss).document
    assert modules_of(document, "AddmmBackward0") == ["judge.0", "maker.0"]
    assert {node["label"] for node in document["nodes"] if node["kind"] == "leaf"} == {
        "judge.0.weight", "judge.0.bias", "maker.0.weight", "maker.0.bias"}
    document = viz.explore(alone).document
    assert modules_of(document, "AddmmBackward0") == ["0"]
    assert modules_of(document, "MseLossBackward0") == ["error"]


def test_modules_without_a_variable_have_their_classes() -> None:
    nets = [nn.Linear(2, 2), nn.Linear(2, 1)]
    document = viz.explore(lambda: nets[1](nets[0](torch.ones(1, 2)).tanh()).sum()).document
    assert modules_of(document, "AddmmBackward0") == ["Linear", "Linear 2"]


def test_parameters_of_modules_that_are_gone_have_their_names() -> None:
    """A program need not keep a model: `Net()(x)`. The recording keeps none alive either."""
    def labels(loss: Any) -> set[str]:
        return {node["label"] for node in viz.explore(loss).document["nodes"] if node["kind"] == "leaf"}

    gone = []
    with viz.recording():
        layers = [nn.Sequential(nn.Linear(2, 2)), nn.Sequential(nn.Linear(2, 1))]
        gone += [weakref.ref(layer) for layer in layers]
        once = layers[0](torch.ones(1, 2)).sum()
        twice = layers[1](layers[0](torch.ones(1, 2))).sum()
        del layers
        gc.collect()
    assert [ref() for ref in gone] == [None, None]
    assert labels(once) == {"0.weight", "0.bias"}
    assert labels(twice) == {"Sequential.0.weight", "Sequential.0.bias", "Sequential 2.0.weight", "Sequential 2.0.bias"}


def test_saved_values_and_rules() -> None:
    x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
    document = viz.explore(x.exp().sum(dim=1)[0]).document
    exp = node_of(document, "ExpBackward0")
    (saved,) = exp["saved"]
    assert (saved["name"], saved["shape"], saved["dtype"], saved["bytes"], saved["version"]) == (
        "result", [2, 2], "float32", 16, 0)
    assert saved["stats"]["max"] == pytest.approx(math.exp(4), rel=1e-5)
    assert saved["picture"]["values"] == pytest.approx([math.exp(k) for k in (1, 2, 3, 4)], rel=1e-5)
    rule = document["rules"][exp["rule"]]
    assert rule["op"] == "exp"
    assert re.match(r"exp(: Op)? = elementwise\(\"exp\"", rule["text"])
    file, line = rule["at"].split(":")
    source = (Path(torch.__file__).parent / file).read_text().splitlines()
    assert source[int(line) - 1] == rule["text"].splitlines()[0]
    assert {"name": "dim", "value": "(1,)"} in node_of(document, "SumBackward1")["saved"]
    assert exp["bytes"] == 16
    assert document["totals"]["bytes"] == sum(node["bytes"] for node in document["nodes"])


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.power = 3
        return x ** 3

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * ctx.power * x * x


def test_a_function_shows_its_backward() -> None:
    x = torch.tensor([1., 2.], requires_grad=True)
    document = viz.explore(lambda: Cube.apply(x).sum()).document
    assert document["cuts"] == []                       # although its forward runs without grad mode
    node = node_of(document, "CubeBackward")
    assert node["kind"] == "function"
    assert [value["name"] for value in node["saved"]] == ["saved_tensors[0]", "ctx.power"]
    assert document["rules"][node["rule"]]["text"].startswith("@staticmethod\ndef backward(ctx: Any, g: Any)")


def test_views_writes_and_versions() -> None:
    document = viz.explore(loss_of_views).document
    kinds = {node["kind"] for node in document["nodes"]}
    assert {"leaf", "operator", "write", "view"} <= kinds
    writes = [node for node in document["nodes"] if node["kind"] == "write"]
    assert all(node["name"] == "CopySlices" and "in place" in node["notes"][0] for node in writes)
    (product,) = [node for node in document["nodes"] if node["name"] == "MulBackward0" and node["order"] == 1]
    assert [value["version"] for value in product["saved"] if "version" in value] == [2, 2]


def test_cuts() -> None:
    w = torch.ones(3, requires_grad=True)

    def loss() -> Any:
        y = w.exp()
        target = y.detach()
        with torch.no_grad():
            scale = y.sum()
        return ((y - target) * scale * y.data).sum()

    document = viz.explore(loss).document
    exp = node_of(document, "ExpBackward0")["id"]
    cuts = document["cuts"]
    assert [(cut["why"], cut["node"], cut["tensor"]) for cut in cuts] == [
        ("detach", exp, "float32[3]"), ("no_grad", exp, "float32[3]"), ("data", exp, "float32[3]")]
    lines = [document["sources"][cut["site"]["file"]][str(cut["site"]["line"])].strip() for cut in cuts]
    assert lines == ["target = y.detach()", "scale = y.sum()", "return ((y - target) * scale * y.data).sum()"]


def test_the_first_bad_values_are_named() -> None:
    w = torch.tensor([0., 1.], requires_grad=True)
    document = viz.explore(lambda: (w.sqrt() * 0 + w.log().clamp(min=-5)).sum()).document
    json.dumps(document, allow_nan=False)
    first = document["totals"]["first_bad"]
    assert document["nodes"][first["backward"]]["name"] == "LogBackward0"
    log = document["nodes"][first["forward"]]
    assert log["name"] == "LogBackward0"
    assert "the result of Log has 1 inf among 2 elements" in log["notes"][0]
    leaf = node_of(document, "w")
    assert leaf["problem"] == "nan"
    assert leaf["gradient"]["nans"] == 1
    assert leaf["gradient"]["norm"] == "nan"
    assert leaf["gradient"]["max"] == 1


# The page


def test_the_page_and_its_frame(tmp_path: Path) -> None:
    x = torch.ones(2, requires_grad=True)
    explored = viz.explore((x * "<&'\">".count("<")).sum(), tmp_path / "step.html")
    page = (tmp_path / "step.html").read_text()
    assert page == explored.page
    assert page.startswith("<!doctype html>")
    frame = explored._repr_html_()
    (inside,) = re.findall(r"<iframe srcdoc='([^']*)'", frame)
    assert inside.replace("&#39;", "'").replace("&amp;", "&") == page
    explored.save(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == page
    assert repr(explored) == "<a backward pass of 3 nodes, 4 bytes saved>"


def test_what_cannot_be_explored() -> None:
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        viz.explore(torch.ones(2))
    with pytest.raises(TypeError, match="leaves are named by a Module"):
        viz.explore(torch.ones(2, requires_grad=True).sum(), params=3)


def test_a_leaf_alone_and_a_tensor_of_several_elements() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    document = viz.explore(x).document
    assert [(node["label"], node["kind"], node["order"]) for node in document["nodes"]] == [("x", "leaf", 0)]
    assert document["nodes"][0]["gradient"]["norm"] == pytest.approx(math.sqrt(6), rel=1e-5)


def test_the_document_of_many_nodes_is_small_and_quick() -> None:
    layers = nn.Sequential(*[nn.Sequential(nn.Linear(32, 32), nn.GELU(), nn.LayerNorm(32)) for _ in range(180)])
    with viz.recording():
        loss = layers(torch.randn(16, 32)).sum()
    explored = viz.explore(loss)
    assert len(explored.document["nodes"]) > 1200
    assert len(json.dumps(explored.document, separators=(",", ":"))) < 1500 * len(explored.document["nodes"])


def test_recording_ends() -> None:
    def nodes_of(y: Any) -> list[Any]:
        return [node for node in reachable([y.grad_fn]) if not isinstance(node, AccumulateGrad)]

    x = torch.ones(2, requires_grad=True)
    inside: Any = None

    def failing() -> None:
        nonlocal inside
        with viz.recording():
            inside = x * 2
            nn.Sequential(nn.Linear(2, 2))(torch.ones(3))

    with pytest.raises(RuntimeError, match="must match|shapes cannot"):
        failing()
    assert torch.nn.modules.module._global_forward_hooks == {}
    assert hasattr(nodes_of(inside)[0], "origin")
    assert not hasattr(nodes_of(x * 2)[0], "origin")


@pytest.mark.parametrize("given", [3, None, "loss", lambda: None, lambda: 2.])
def test_what_is_no_tensor_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match=r"explore\(\) takes a tensor, or a function that computes one, not \w+"):
        viz.explore(given)
