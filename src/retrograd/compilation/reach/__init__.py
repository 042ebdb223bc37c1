"""What a call of a function can reach, and what the call has changed of it.

- `state` walks over it: arguments, captured variables, modules, optimizers. `items` are what it finds, and `places`
  where it stands. `reading` says what code names, `named` notes this, and `patches` are functions of libraries that the
  program has replaced.
- `kinds` says what is compared of a value and what is refused. `judging` says which things may be called, with the
  tables of `known`.
- `surroundings` are the modes of the thread and of the process, and random numbers of other libraries.
- `changes` compares two walks: what a call has changed.
- `counters` are places in which a program counts, `appended` lists to which it appends. `strict` says whether numbers
  may be traced at all.
- `twins` stand for arguments that are in a list, too. `communicating`, `put_off` and `changing_sizes` say whether a
  call may send something, whether schedules may step later, and whether sizes change.
"""
