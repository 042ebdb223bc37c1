// Long runs of steps stand in several columns, one beside the other, so that a whole loop can be seen.
"use strict";

const WRAP = { least: 12, ratio: 1.4, gap: 64, lane: 5 };

/** Breaks the rows of a long run into columns. A wire to the next column goes through a lane between the two. */
function wrap(made, rows) {
  const first = rows[0][0].top;
  const span = rows.at(-1)[0].bottom - first;
  const margin = made.depth - rows.at(-1)[0].bottom;
  const count = Math.round(Math.sqrt((WRAP.ratio * span) / (made.width + WRAP.gap)));
  if (count < 2) return;
  const step = made.width + WRAP.gap;
  let [column, start, deepest] = [0, first, 0];
  for (const row of rows) {
    if (row[0].top - start > span / count) {
      column += 1;
      start = row[0].top;
    }
    row.forEach((item, k) => {
      Object.assign(item, { at: item.at + column * step, top: item.top - start + first, bottom: item.bottom - start + first, column });
      item.lane = column * step - WRAP.gap / 2 + WRAP.lane * (k - row.length / 2);
    });
    deepest = Math.max(deepest, row[0].bottom);
  }
  made.width += column * step;
  made.depth = deepest + margin;
}

/** The lane of a wire from one column to the next, at the stop where the wire arrives. */
function markLane(upper, lower, stop) {
  if (upper.column !== undefined && lower.column !== upper.column) stop.lane = lower.a - lower.at + lower.lane;
}

/** A wire back to the start of the next column, through the lane between the columns. */
function lanePath(from, to, direction) {
  const point = (a, l) => (direction === "down" ? `${round(a)} ${round(l)}` : `${round(l)} ${round(a)}`);
  const [a, l, endA, endL] = direction === "down" ? [from.x, from.y, to.x, to.y] : [from.y, from.x, to.y, to.x];
  const r = 12;
  const turn = (corner, end) => `Q${point(...corner)} ${point(...end)}`;
  const side = (x, y) => Math.sign(y - x) || 1;
  return `M${point(a, l)}${turn([a, l + r], [a + r * side(a, to.lane), l + r])}L${point(to.lane - r * side(a, to.lane), l + r)}`
    + `${turn([to.lane, l + r], [to.lane, l])}L${point(to.lane, endL)}`
    + `${turn([to.lane, endL - r], [to.lane + r * side(to.lane, endA), endL - r])}L${point(endA - r * side(to.lane, endA), endL - r)}`
    + turn([endA, endL - r], [endA, endL]);
}

/** Whether a wire leads back along the flow, to the start of the next column. */
const isBack = (from, to, direction) => to.lane !== undefined && (direction === "down" ? to.y < from.y : to.x < from.x);
