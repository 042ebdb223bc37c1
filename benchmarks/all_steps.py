"""All steps that are compiled: those of `steps`, then those of `transformed_steps`."""

from __future__ import annotations

import benchmarks.transformed_steps as transformed_steps
from benchmarks.steps import WORKLOADS

__all__ = ["WORKLOADS", "transformed_steps"]
