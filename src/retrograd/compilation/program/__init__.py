"""The words in which a traced program is said. Nothing here imports another folder of the compiler.

- `lines` are calls on numbered values, and a `Program` of them. `loops` are what elementwise lines become.
- `stand_ins` are arrays without memory, by which a plan knows how the values lie.
- `sizes` notes what a program does with the sizes that it sees. `forms` are numbers that depend on sizes, and `symbols`
  finds them in the lines of a program. `layouts` are shapes and strides of such numbers.
- `stand_in_numbers` are Python numbers that are traced, and `expressions` what they are computed from.
- `constants` are values that cannot change. `origins` says whose code a module or class is.
- `undoing` gives back what was put in place.
"""
