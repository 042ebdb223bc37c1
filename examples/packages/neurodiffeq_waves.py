"""neurodiffeq: solves an oscillator and Laplace's equation with networks that meet the conditions exactly."""

import numpy as np
import torch
from neurodiffeq import diff
from neurodiffeq.conditions import IVP, DirichletBVP2D
from neurodiffeq.generators import Generator1D, Generator2D
from neurodiffeq.networks import FCNN
from neurodiffeq.solvers import Solver1D, Solver2D
from torch import nn


def oscillator() -> None:
    """u'' + u = 0 from u = 0, u' = 1: a sine."""
    network = FCNN(n_input_units=1, n_output_units=1, hidden_units=(16, 16), actv=nn.Tanh)
    solver = Solver1D(
        ode_system=lambda u, t: [diff(u, t, order=2) + u],
        conditions=[IVP(t_0=0.0, u_0=0.0, u_0_prime=1.0)],
        t_min=0.0,
        t_max=2.0,
        nets=[network],
        train_generator=Generator1D(24, 0.0, 2.0, method="equally-spaced-noisy"),
        valid_generator=Generator1D(24, 0.0, 2.0, method="equally-spaced"),
        optimizer=torch.optim.Adam(network.parameters(), lr=0.01),
    )
    solver.fit(max_epochs=150, tqdm_file=None)
    losses = solver.metrics_history["train_loss"]
    print(f"oscillator: loss {losses[0]:.6f}, then {losses[75]:.6f}, then {losses[-1]:.6f}")
    times = np.linspace(0, 2, 5)
    print("at five times:", [round(float(value), 4) for value in solver.get_solution(best=True)(times, to_numpy=True)])


def laplace() -> None:
    """The heat of a square whose lower side is warm."""
    condition = DirichletBVP2D(
        x_min=0, x_min_val=lambda y: torch.sin(np.pi * y), x_max=1, x_max_val=lambda y: 0 * y,
        y_min=0, y_min_val=lambda x: 0 * x, y_max=1, y_max_val=lambda x: 0 * x,
    )  # fmt: skip
    solver = Solver2D(
        pde_system=lambda u, x, y: [diff(u, x, order=2) + diff(u, y, order=2)],
        conditions=[condition],
        xy_min=(0, 0),
        xy_max=(1, 1),
        nets=[FCNN(n_input_units=2, n_output_units=1, hidden_units=(12,))],
        train_generator=Generator2D((8, 8), (0, 0), (1, 1), method="equally-spaced-noisy"),
        valid_generator=Generator2D((8, 8), (0, 0), (1, 1), method="equally-spaced"),
    )
    solver.fit(max_epochs=60, tqdm_file=None)
    print(f"square: loss {solver.metrics_history['train_loss'][-1]:.5f}")
    middle = solver.get_solution()(np.array([0.5]), np.array([0.5]), to_numpy=True)
    print(f"in the middle {float(middle[0]):.5f}")


def main() -> None:
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    oscillator()
    laplace()


if __name__ == "__main__":
    main()
