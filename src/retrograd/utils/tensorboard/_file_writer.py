"""The event file of a run."""

from __future__ import annotations

import time
from typing import Any, NoReturn

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.summary.writer.event_file_writer import EventFileWriter


def refuse_graphs() -> NoReturn:
    """Say that no graphs are written, and what to do."""
    raise NotImplementedError("retrograd writes no graph of a model for TensorBoard. Leave add_graph out, or draw the "
                              "graph with retrograd.viz.")


class FileWriter:
    """Writes events to a new file in the folder `log_dir`."""

    def __init__(self, log_dir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder of the file."""
        return self.event_writer.get_logdir()

    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """Write an event, with the time `walltime` or the present time."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Write a summary as an event."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def add_graph(self, graph_profile: Any, walltime: float | None = None) -> None:
        """Raises NotImplementedError: no graph of a model is written."""
        refuse_graphs()

    def add_onnx_graph(self, graph: Any, walltime: float | None = None) -> None:
        """Raises NotImplementedError: no graph of a model is written."""
        refuse_graphs()

    def flush(self) -> None:
        """Write to the disk what waits in the queue."""
        self.event_writer.flush()

    def close(self) -> None:
        """Close the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Open the file again."""
        self.event_writer.reopen()
