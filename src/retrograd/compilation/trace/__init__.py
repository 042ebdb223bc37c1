"""One run, written down: the function runs on traced arrays, and everything is noted that is needed to repeat the call.

- `run_once` drives the run. `tracing` has the traced arrays and the tape, `answering` what an array says to NumPy.
- What is in place while the function runs: `behind` puts traced arrays behind tensors, `borders` end the graph, `rates`
  and `schedules` stand for options of optimizers and for steps of schedules. `numbers` has the numbers that the program
  gets. `watching` sees what the program does besides, and `calls` which functions it calls.
- `deferred` puts off calls on large arrays, until the run is over.
- What a run leaves behind: `results` and `leaving` say how a repetition makes it, `counts` how often memory is written.
  `backward_plans` trace the backward pass of the results, and `harmless` says whether this may be done.
- `cleaning`, `settling` and `left_sizes` put plain arrays, numbers and sizes in the places of those that stood for
  them. `restoring` puts back what a run has changed that is made again.
"""
