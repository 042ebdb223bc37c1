"""Tries the project in fresh environments: each extra alone, and each interpreter. Nothing but Python is needed."""
