"""What PyTorch says of wrong arguments, from a table of how its functions may be called.

Nobody asks this of a call that is well: only when a function has failed are its arguments looked at.
"""
