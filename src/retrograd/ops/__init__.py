"""The op table: one statement for each operator, with its kernel and its derivative rules."""
