"""Draws points of a Sobol sequence: the extra `quasirandom`."""

import retrograd as torch

assert torch.quasirandom.SobolEngine(2).draw(2).tolist() == [[0.0, 0.0], [0.5, 0.5]]
