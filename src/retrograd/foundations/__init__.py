"""What the whole package uses, and what computes nothing.

`dtypes` and `devices` say what a tensor is made of and where it lies. `limits` says which numbers a dtype has. `modes`
has the switches of a thread. `errors` finds the user's line. `names` finds modules and hints at missing names.
`launching` knows the other processes of a run. `futures` has values that some thread sets later.
"""
