"""The words in which a traced program is said: lines on numbered values, loops, sizes, numbers.

Nothing here imports another folder of the compiler.
"""
