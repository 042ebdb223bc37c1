"""All steps that are compiled: those of `steps`, of `program_steps` and of `transformed_steps`."""

from __future__ import annotations

import benchmarks.program_steps as program_steps
import benchmarks.transformed_steps as transformed_steps
from benchmarks.steps import WORKLOADS

__all__ = ["WORKLOADS", "program_steps", "transformed_steps"]
