"""deepxde: solves Poisson's equation on an interval with a network, by Adam and then by L-BFGS.

A second problem finds the unknown rate of a decay from measured points.
"""

import os

os.environ["DDE_BACKEND"] = "pytorch"  # deepxde works with several libraries, and asks which one

import deepxde as dde
import numpy as np
import torch


def poisson() -> None:
    """u'' = -pi^2 sin(pi x) with u(-1) = u(1) = 0."""

    def equation(x: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
        return dde.grad.hessian(u, x) + np.pi**2 * torch.sin(np.pi * x)

    interval = dde.geometry.Interval(-1, 1)
    ends = dde.icbc.DirichletBC(interval, lambda x: 0, lambda x, on_boundary: on_boundary)
    data = dde.data.PDE(interval, equation, ends, 16, 2, solution=lambda x: np.sin(np.pi * x), num_test=50)
    network = dde.nn.FNN([1, 20, 20, 1], "tanh", "Glorot uniform")
    model = dde.Model(data, network)
    model.compile("adam", lr=0.005, metrics=["l2 relative error"], verbose=0)
    history, _ = model.train(iterations=200, display_every=50, verbose=0)
    for step, loss, error in zip(history.steps, history.loss_train, history.metrics_test):
        print(f"step {step}   loss {sum(loss):.6f}, error {error[0]:.6f}")
    dde.optimizers.set_LBFGS_options(maxiter=20)
    model.compile("L-BFGS", metrics=["l2 relative error"], verbose=0)
    history, _ = model.train(verbose=0)
    print(f"after L-BFGS: error below 0.05: {history.metrics_test[-1][0] < 0.05}")


def decay() -> None:
    """y' = -k y, with k from measured points."""
    rate = dde.Variable(0.5)
    times = np.linspace(0, 2, 9)[:, None]
    measured = dde.icbc.PointSetBC(times, np.exp(-1.5 * times))
    line = dde.geometry.TimeDomain(0, 2)
    data = dde.data.PDE(line, lambda t, y: dde.grad.jacobian(y, t) + rate * y, [measured], 20, 2, anchors=times)
    model = dde.Model(data, dde.nn.FNN([1, 16, 1], "tanh", "Glorot normal"))
    model.compile("adam", lr=0.05, external_trainable_variables=[rate], verbose=0)
    model.train(iterations=300, verbose=0)
    print(f"the rate is {rate.item():.4f}, in truth 1.5")


def main() -> None:
    dde.config.set_random_seed(12)
    dde.config.set_default_float("float64")
    poisson()
    decay()


if __name__ == "__main__":
    main()
