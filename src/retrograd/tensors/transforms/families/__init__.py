"""Operators that compute a whole batch in one call, by family; `table` says which rule an operator has."""
