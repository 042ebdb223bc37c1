"""Steps of programs that people write: a small CNN, a language model, a GRU, an autoencoder, an equation, bodies.

They are written once for each package, as those of `steps` are. `steps_in_jax` has the same in JAX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.steps import HEADS, WIDTH, Step, classifying, recurrent, with_gradients, with_update, workload

LAYERS, CONTEXT, VOCABULARY = 2, 32, 64
TIMES, BODIES = 20, 256


@workload("cnn", "a training step of a network with one convolution and batch norm on 32 digits, with SGD",
          numpy=1.5, llvm=0.6)
def cnn(torch: Any) -> Step:
    torch.manual_seed(0)
    nn = torch.nn
    network = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                            nn.Flatten(), nn.Linear(256, 10))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    return classifying(torch, network, optimizer, [(torch.rand(32, 1, 8, 8), torch.randint(0, 10, (32,)))])


@workload("gpt", f"a training step of a language model of {LAYERS} layers on 8 texts of {CONTEXT} letters, with Adam",
          numpy=1.5, llvm=0.6)
def gpt(torch: Any) -> Step:
    torch.manual_seed(0)
    nn, size = torch.nn, WIDTH // HEADS
    letters, places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
    blocks = [[nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH),
               nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)] for _ in range(LAYERS)]
    norm, head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)
    modules = nn.ModuleList([letters, places, *[layer for block in blocks for layer in block], norm, head])
    optimizer = torch.optim.Adam(modules.parameters(), lr=1e-3)
    text = torch.randint(0, VOCABULARY, (8, CONTEXT + 1))

    def attention(x: Any, projection: Any, out: Any) -> Any:
        q, k, v = [part.unflatten(-1, (HEADS, size)).transpose(1, 2) for part in projection(x).chunk(3, -1)]
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return out(mixed.transpose(1, 2).flatten(2))

    def loss(given: Any, wanted: Any) -> Any:
        x = letters(given) + places.weight
        for first, projection, out, second, up, down in blocks:
            x = x + attention(first(x), projection, out)
            x = x + down(nn.functional.gelu(up(second(x))))
        return nn.functional.cross_entropy(head(norm(x)).flatten(0, 1), wanted.flatten())

    return Step(loss, with_update(optimizer), [*modules.parameters()],
                [(text[:, :-1].contiguous(), text[:, 1:].contiguous())])


@workload("gru", "a training step of a GRU from 32 to 32 features on 20 steps at batch 16, with SGD",
          numpy=1.2, llvm=0.8)
def gru(torch: Any) -> Step:
    return recurrent(torch, "GRU")


@workload("vae", "a training step of a variational autoencoder, 64-64-8-64-64, on 64 digits, with Adam",
          numpy=0.8, llvm=0.6)
def vae(torch: Any) -> Step:
    torch.manual_seed(0)
    nn = torch.nn
    encoder, decoder = [nn.Sequential(nn.Linear(*first), nn.ReLU(), nn.Linear(*second)) for first, second in (
        ((64, 64), (64, 16)), ((8, 64), (64, 64)))]
    parameters = [*encoder.parameters(), *decoder.parameters()]

    def loss(images: Any, noise: Any) -> Any:
        mean, spread = encoder(images).chunk(2, -1)
        scores = decoder(mean + noise * (spread / 2).exp())
        known = nn.functional.binary_cross_entropy_with_logits(scores, images, reduction="sum")
        return (known - 0.5 * (1 + spread - mean**2 - spread.exp()).sum()) / len(images)

    return Step(loss, with_update(torch.optim.Adam(parameters, lr=1e-3)), parameters,
                [(torch.rand(64, 64), torch.randn(64, 8))])


def runge_kutta(slope: Callable[[Any], Any], x: Any, h: float = 0.1) -> Any:
    """What x becomes in `TIMES` steps of the length h, with arrays of any package."""
    for _ in range(TIMES):
        one = slope(x)
        two = slope(x + h / 2 * one)
        three = slope(x + h / 2 * two)
        x = x + h / 6 * (one + 2 * two + 2 * three + slope(x + h * three))
    return x


@workload("ode", f"a training step of x' = f(x), a 2-32-2 network, over {TIMES} steps of Runge and Kutta, with SGD",
          numpy=0.8, llvm=0.6)
def ode(torch: Any) -> Step:
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2))
    parameters = [*network.parameters()]
    return Step(lambda x, wanted: ((runge_kutta(network, x) - wanted) ** 2).mean(),
                with_update(torch.optim.SGD(parameters, lr=0.01)), parameters,
                [(torch.randn(64, 2), torch.randn(64, 2))])


@workload("bodies", f"the energy of {BODIES} bodies that attract each other, and the forces", numpy=0.8, llvm=0.6)
def bodies(torch: Any) -> Step:
    torch.manual_seed(0)
    places, masses = torch.randn(BODIES, 3, requires_grad=True), torch.rand(BODIES)

    def energy(masses: Any) -> Any:
        apart = places[:, None] - places
        near = 1 / ((apart * apart).sum(-1) + 0.01).sqrt()
        return -0.5 * (masses[:, None] * masses * near).sum()

    return Step(energy, with_gradients(torch, (places,)), (places,), [(masses,)])
