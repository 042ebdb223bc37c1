"""One run, written down: the function runs on traced arrays, and everything is noted that is needed to repeat the call.

- `run_once` drives the run through its stages: `walked` finds what the call can reach, `recording` runs the function,
  `describing` makes the recipe. `known_tensors` says where a repetition finds tensors.
- `tracing` has the tape, which writes down what happens to `traced` arrays, and `memories` the memory in which values
  lie. `answering` is what an array says to NumPy. `reasons` are those for which a tape is given up.
- What is in place while the function runs: `behind` puts traced arrays behind tensors, and `borders` end the graph.
  `watching` sees what the program does besides computing, and `calls` which functions it calls.
- `deferred` puts off calls on large arrays, until the run is over.
- What a run leaves behind: `results` and `leaving` say how a repetition makes it, `counts` how often memory is written.
  `backward_plans` traces the backward pass of the results, and `harmless` says whether this may be done.
- `cleaning` and `left_sizes` put plain arrays and sizes wherever traced ones were left. `restoring` puts back what a
  run has changed, if the run is made again.
"""
