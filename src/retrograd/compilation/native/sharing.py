"""Work that threads share, inside of native functions: one thread publishes it, and all that are there take parts.

`share` runs a function over a range in parts. The words of a team say what is to be done: the parts that are taken, the
parts that helpers have done, how many helpers are there, and the work. A part is taken by an exchange of the first
word, which has the number of the work and a bit for each part. The number is never 0, and begins anew at 1. The
publishing thread takes parts like the others, so a helper that comes late or not at all costs nothing. `help` is what
helpers run. Without a team, `share` runs all.

Each thread begins with a share of its own, in the order of the range. So one loop after the other finds the numbers of
a share in the cache of the same thread. Moving them from core to core would take as long as computing them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..program.loops import Reduction
from .host import has_symbol, pausing
from .lanes import Code
from .modules import Module
from .table import address_at, place_of
from .vectors import begin_with, combine
from .words import DONE, PRESENT, WORK

# How often a helper looks for work before it lets other programs run in between, and then until it leaves.
_EAGER, _PATIENT = 1000, 1000
_SHARE = """define internal void @share(ptr %team, ptr %function, ptr %table, i64 %extent, i64 %most) nounwind {
entry:
  %parts = call i64 @llvm.umin.i64(i64 %most, i64 32)
  %alone = icmp eq ptr %team, null
  br i1 %alone, label %all, label %publish
all:
  call void %function(ptr %table, i64 0, i64 %extent)
  ret void
publish:
  %done = getelementptr i64, ptr %team, i64 DONE
  %present = getelementptr i64, ptr %team, i64 PRESENT
  %work = getelementptr i64, ptr %team, i64 WORK
  %last = load atomic i64, ptr %team monotonic, align 8
  %number = lshr i64 %last, 32
  %following = add i64 %number, 1
  %is.last = icmp eq i64 %number, 4294967295
  %next = select i1 %is.last, i64 1, i64 %following
  %begun = shl i64 %next, 32
  %closed = or i64 %begun, 4294967295
  %beyond = shl i64 4294967295, %parts
  %none = and i64 %beyond, 4294967295
  %open = or i64 %begun, %none
  store atomic i64 %closed, ptr %team seq_cst, align 8
  fence seq_cst
  %helpers = load atomic i64, ptr %present monotonic, align 8
  %threads = add i64 %helpers, 1
  %f = ptrtoint ptr %function to i64
  %t = ptrtoint ptr %table to i64
  %p1 = getelementptr i64, ptr %work, i64 1
  %p2 = getelementptr i64, ptr %work, i64 2
  %p3 = getelementptr i64, ptr %work, i64 3
  %p4 = getelementptr i64, ptr %work, i64 4
  store atomic i64 %f, ptr %work monotonic, align 8
  store atomic i64 %t, ptr %p1 monotonic, align 8
  store atomic i64 %extent, ptr %p2 monotonic, align 8
  store atomic i64 %parts, ptr %p3 monotonic, align 8
  store atomic i64 %threads, ptr %p4 monotonic, align 8
  store atomic i64 0, ptr %done monotonic, align 8
  store atomic i64 %open, ptr %team release, align 8
  %own = call i64 @take(ptr %team, i64 0)
  br label %wait
wait:
  %turns = phi i64 [ 0, %publish ], [ %more, %pause ], [ %more, %yield ]
  %others = load atomic i64, ptr %done acquire, align 8
  %sum = add i64 %others, %own
  %over = icmp eq i64 %sum, %parts
  br i1 %over, label %end, label %again
again:
  %more = add i64 %turns, 1
  %long = icmp ugt i64 %more, EAGER
  br i1 %long, label %yield, label %pause
pause:
  PAUSE
  br label %wait
yield:
  YIELD
  br label %wait
end:
  ret void
}"""
_TAKE = """define internal i64 @take(ptr %team, i64 %rank) nounwind noinline {
entry:
  %work = getelementptr i64, ptr %team, i64 WORK
  %p1 = getelementptr i64, ptr %work, i64 1
  %p2 = getelementptr i64, ptr %work, i64 2
  %p3 = getelementptr i64, ptr %work, i64 3
  %p4 = getelementptr i64, ptr %work, i64 4
  br label %look
look:
  %count = phi i64 [ 0, %entry ], [ %count, %try ], [ %counted, %run ]
  %claim = load atomic i64, ptr %team acquire, align 8
  %f = load atomic i64, ptr %work monotonic, align 8
  %t = load atomic i64, ptr %p1 monotonic, align 8
  %extent = load atomic i64, ptr %p2 monotonic, align 8
  %parts = load atomic i64, ptr %p3 monotonic, align 8
  %threads = load atomic i64, ptr %p4 monotonic, align 8
  %not.taken = xor i64 %claim, -1
  %free = and i64 %not.taken, 4294967295
  %some = icmp ne i64 %free, 0
  %any = icmp ugt i64 %claim, 4294967295
  %left = and i1 %some, %any
  br i1 %left, label %try, label %end
try:
  %part = call i64 @choose(i64 %free, i64 %parts, i64 %threads, i64 %rank)
  %bit = shl i64 1, %part
  %after = or i64 %claim, %bit
  %exchange = cmpxchg ptr %team, i64 %claim, i64 %after acq_rel monotonic, align 8
  %taken = extractvalue { i64, i1 } %exchange, 1
  br i1 %taken, label %run, label %look
run:
  %from = mul i64 %extent, %part
  %begin = udiv i64 %from, %parts
  %to = add i64 %from, %extent
  %end.of = udiv i64 %to, %parts
  %function = inttoptr i64 %f to ptr
  %table = inttoptr i64 %t to ptr
  call void %function(ptr %table, i64 %begin, i64 %end.of)
  %counted = add i64 %count, 1
  br label %look
end:
  ret i64 %count
}"""
# The first free part of the thread's own share, and the last free part of all if its share is taken.
_CHOOSE = """define internal i64 @choose(i64 %free, i64 %parts, i64 %threads, i64 %rank) nounwind {
  %first = mul i64 %rank, %parts
  %start = udiv i64 %first, %threads
  %last = add i64 %first, %parts
  %end = udiv i64 %last, %threads
  %low = call i64 @llvm.umin.i64(i64 %start, i64 32)
  %high = call i64 @llvm.umin.i64(i64 %end, i64 32)
  %below = shl i64 1, %low
  %up.to = shl i64 1, %high
  %share = sub i64 %up.to, %below
  %own = and i64 %free, %share
  %any = icmp ne i64 %own, 0
  %ahead = call i64 @llvm.cttz.i64(i64 %own, i1 false)
  %zeros = call i64 @llvm.ctlz.i64(i64 %free, i1 false)
  %behind = sub i64 63, %zeros
  %part = select i1 %any, i64 %ahead, i64 %behind
  ret i64 %part
}"""
_HELP = """define void @help(ptr %team) nounwind {
entry:
  %done = getelementptr i64, ptr %team, i64 DONE
  %present = getelementptr i64, ptr %team, i64 PRESENT
  %arrived = atomicrmw add ptr %present, i64 1 acq_rel
  %rank = add i64 %arrived, 1
  br label %look
look:
  %turns = phi i64 [ 0, %entry ], [ 0, %report ], [ %more, %pause ], [ %more, %yield ]
  %count = call i64 @take(ptr %team, i64 %rank)
  %some = icmp ne i64 %count, 0
  br i1 %some, label %report, label %idle
report:
  %told = atomicrmw add ptr %done, i64 %count acq_rel
  br label %look
idle:
  %more = add i64 %turns, 1
  %long = icmp ugt i64 %more, EAGER
  br i1 %long, label %wait, label %pause
pause:
  PAUSE
  br label %look
wait:
  %over = icmp ugt i64 %more, LAST
  br i1 %over, label %leave, label %yield
yield:
  YIELD
  br label %look
leave:
  %left = atomicrmw sub ptr %present, i64 1 acq_rel
  ret void
}"""


def _add(module: Module, name: str, text: str) -> None:
    """Add a function to the module, and those that it calls."""
    module.declare("llvm.umin.i64", "i64", "i64", "i64")
    for function in ("cttz", "ctlz"):
        module.declare(f"llvm.{function}.i64", "i64", "i64", "i1")
    pause = pausing()
    if pause:
        module.declared[pause] = f"declare void @{pause}()"
    yields = has_symbol("sched_yield")
    if yields:
        module.declared["sched_yield"] = "declare i32 @sched_yield() nounwind"
    words = {"DONE": DONE, "PRESENT": PRESENT, "WORK": WORK, "EAGER": _EAGER, "LAST": _EAGER + _PATIENT,
             "PAUSE": f"call void @{pause}()" if pause else "", "YIELD": "call i32 @sched_yield()" if yields else ""}
    for function, lines in (("choose", _CHOOSE), ("take", _TAKE), (name, text)):
        for word, value in words.items():
            lines = lines.replace(word, str(value))
        module.functions[function] = lines


def help_module(module: Module) -> Module:
    """Add `help(team)` to the module: take parts of published work until there has been none for a while."""
    _add(module, "help", _HELP)
    return module


def shared(module: Module, function: str, extent: int | str, parts: int | str, table: str = "%table") -> str:
    """A line that runs `function(table, begin, end)` over a range, in parts. `%team` must be known where it stands.

    The extent and the parts are numbers, or the names of numbers.
    """
    if "share" not in module.functions:
        _add(module, "share", _SHARE)
    return f"  call void @share(ptr %team, ptr @{function}, ptr {table}, i64 {extent}, i64 {parts})"


class Apart(NamedTuple):
    """A reduction whose parts are made apart: its slot, and how many numbers its result has."""

    reduction: Reduction
    slot: int
    size: int


def bytes_apart(apart: Sequence[Apart]) -> int:
    """The memory that one part needs for its reductions."""
    return sum([_bytes(each) for each in apart])


def _bytes(each: Apart) -> int:
    return -(-each.size * each.reduction.dtype.itemsize // 64) * 64


def write_apart(module: Module, name: str, extent: int, parts: int, slots: int, apart: Sequence[Apart]) -> str:
    """A line that runs `loop<name>` in parts which reduce apart. The first part uses the memory of the results, and the
    others are combined with it, one after the other. So the numbers do not depend on the threads.
    """
    module.functions[f"part{name}"] = _part(module, name, extent, parts, slots, apart)
    code, size = Code(module, 1), bytes_apart(apart)
    context, more = code.stack("[2 x ptr]"), code.stack(f"[{(parts - 1) * size} x i8], align 64")
    code.do(f"store ptr %table, ptr {context}")
    code.do(f"store ptr {more}, ptr {place_of(code, 1, context)}")
    code.lines.append(shared(module, f"part{name}", parts, parts, context))
    for part in range(parts - 1):
        offset = part * size
        for each in apart:
            own = code.put(f"getelementptr i8, ptr {more}, i64 {offset}")
            combine(code, each.reduction, each.size, address_at(code, each.slot), own)
            offset += _bytes(each)
    module.functions[f"parts{name}"] = code.function(f"internal void @parts{name}(ptr %table, ptr %team)")
    return f"  call void @parts{name}(ptr %table, ptr %team)"


def _part(module: Module, name: str, extent: int, parts: int, slots: int, apart: Sequence[Apart]) -> str:
    """The function of some parts. What it is given are the table, and the memory for the parts but the first."""
    code, size = Code(module, 1), bytes_apart(apart)
    own = code.stack(f"[{slots} x ptr]")
    table = code.put("load ptr, ptr %context")
    more = address_at(code, 1, "%context")

    def body(part: str) -> None:
        begin = code.put(f"udiv i64 {code.put(f'mul i64 {part}, {extent}')}, {parts}")
        after = code.put(f"add i64 {part}, 1")
        end = code.put(f"udiv i64 {code.put(f'mul i64 {after}, {extent}')}, {parts}")

        def copy(slot: str) -> None:
            code.do(f"store ptr {address_at(code, slot, table)}, ptr {place_of(code, slot, own)}")

        def prepare() -> None:
            before = code.put(f"mul i64 {code.put(f'sub i64 {part}, 1')}, {size}")
            start = code.put(f"getelementptr i8, ptr {more}, i64 {before}")
            offset = 0
            for each in apart:
                place = code.put(f"getelementptr i8, ptr {start}, i64 {offset}")
                begin_with(code, each.reduction, each.size, place)
                code.do(f"store ptr {place}, ptr {place_of(code, each.slot, own)}")
                offset += _bytes(each)

        code.loop(0, slots, 1, copy)
        code.only_if(code.put(f"icmp ne i64 {part}, 0"), prepare)
        code.do(f"call void @loop{name}(ptr {own}, i64 {begin}, i64 {end})")

    code.loop("%begin", "%end", 1, body)
    return code.function(f"internal void @part{name}(ptr %context, i64 %begin, i64 %end)")
