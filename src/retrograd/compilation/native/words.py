"""The words of a team of threads: where they stand in its memory. `sharing` writes the code that uses them."""

# The words of a team, which lie apart from each other: helpers write the second and the third.
CLAIM, DONE, PRESENT, WORK, WORDS = 0, 16, 32, 48, 64
