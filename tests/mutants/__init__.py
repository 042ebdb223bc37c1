"""What the tests are worth, measured: plants faults in copies of the source, one at a time, and runs the tests."""
