"""The text of a module of LLVM: its functions, the functions that it calls, and its constants."""

from __future__ import annotations

from .host import Host

# The weights of a branch that is hardly ever taken.
_RARELY = '!0 = !{!"branch_weights", i32 1, i32 100000}'


class Module:
    """The text of a module: its functions, and the functions that it calls. `thorough` asks LLVM for its best code."""

    def __init__(self, host: Host, thorough: bool = True) -> None:
        self.host, self.thorough = host, thorough
        self.declared: dict[str, str] = {}
        self.functions: dict[str, str] = {}
        self._pool: dict[str, int] = {}                     # vectors of constants, and their places

    def declare(self, name: str, result: str, *arguments: str) -> None:
        """Declare a function that is defined elsewhere. It has no effects beside its result."""
        self.declared.setdefault(
            name, f"declare {result} @{name}({', '.join(arguments)}) nounwind willreturn memory(none)")

    def pooled(self, value: str) -> str:
        """The place of a vector of a whole register, which holds a constant. All of them lie together.

        LLVM itself would have each constant somewhere, as one number, and would find the place and repeat the number in
        each turn of a loop. From here an instruction takes the vector as its operand.
        """
        place = self._pool.setdefault(value, len(self._pool)) * self.host.bits // 8
        return f"getelementptr inbounds (i8, ptr @pool, i64 {place})"

    def joins(self, other: Module) -> bool:
        """Put all functions into another module, unless that has another function of the same name. Says whether it
        was done.
        """
        if any([other.functions.get(name, function) != function for name, function in self.functions.items()]):
            return False
        other.functions = {**self.functions, **other.functions}
        other.declared = {**self.declared, **other.declared}
        return True

    def text(self) -> str:
        """The whole module."""
        types, pool = ", ".join([value.partition(" splat")[0] for value in self._pool]), ""
        if types:
            align = self.host.bits // 8
            pool = f"@pool = internal global <{{ {types} }}> <{{ {', '.join(self._pool)} }}>, align {align}"
        return "\n".join([pool, *self.functions.values(), *self.declared.values(), _RARELY, ""])
