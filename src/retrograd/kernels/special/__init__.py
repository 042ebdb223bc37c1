"""The special functions of mathematics."""
