// Coordinates of what is drawn, from the ranks and the order that the document gives for each group. Python has the
// same rules for its pictures, and gives their constants (viz/coordinates.py). "Across" runs along a rank; "along" runs
// from rank to rank.
"use strict";

const GAPS = { boxes: 22, points: 12, ranks: 38, bends: 10, pad: 16, head: 24 };
const BOX = { widest: 280, margin: 22, mini: 41, below: 4 };
const { sweeps: SWEEPS, weights: WEIGHTS, slope: SLOPE } = JSON.parse(document.getElementById("layout").textContent);
const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';
const FONTS = { name: `600 13px ${SANS}`, note: `11.5px ${SANS}`, mark: `600 11.5px ${SANS}`, small: `10.5px ${SANS}` };

/** The boxes, frames and wires for the groups in `open`. */
function arrange(open, direction) {
  const inner = new Map();
  for (const group of [...model.groups].reverse()) {
    if (isShown(group, open)) inner.set(group.index, arrangeGroup(group, inner, open, direction));
  }
  const scene = { boxes: [], frames: [], wires: [], heads: new Set(), byKey: new Map(), direction };
  const start = inner.get(0);
  const queue = [[model.groups[0], start, 0, 0]];
  while (queue.length) settleGroup(scene, queue.pop(), inner, queue);
  const size = start ? [start.width, start.depth] : [0, 0];
  [scene.width, scene.height] = direction === "down" ? size : size.reverse();
  scene.boxes.sort((a, b) => (a.position ?? 1e9) - (b.position ?? 1e9));
  return scene;
}

/** Whether a group and all groups around it are open. The whole graph always is. */
function isShown(group, open) {
  for (let at = group; at.home !== null; at = model.groups[at.home]) if (!open.has(at.index)) return false;
  return true;
}

/** The name of a box, what stands beside the name, and the second line. */
function boxWords(item) {
  if (item.members) return [groupTitle(item), item.path ? item.class ?? "" : "", counted(item.members.length, "node")];
  const around = item.home !== null && item.home !== undefined ? model.groups[item.home].path : "";
  const name = around && item.label?.startsWith(`${around}.`) ? item.label.slice(around.length + 1) : item.label || item.name;
  const short = item.kind !== "function" ? name.replace(/Backward0$/, "") || name : name;
  return [short, "", shapeText(item.outputs?.[0]?.shape)];
}

/** The second line with the value that the color shows. */
function noteText(item, color) {
  const value = MEASURES[color].of(item);
  return [item.words[2], value === null || value === undefined ? null : MEASURES[color].text(value)].filter(Boolean).join(" · ");
}

function boxSize(item) {
  item.words ??= boxWords(item);
  const [name, beside] = item.words;
  item.mini ??= miniature(item.members ? null : item.picture, item.norm);
  const notes = Object.keys(MEASURES).map((color) => textWidth(noteText(item, color), FONTS.note));
  const widest = Math.max(textWidth(name, FONTS.name) + (beside ? textWidth(beside, FONTS.note) + 6 : 0), ...notes);
  const height = (item.members ? 50 : 44) + (item.mini.height ? item.mini.height + BOX.below : 0);
  return [Math.round(Math.min(BOX.widest, Math.max(72, widest + 28, item.mini.width + 28))), Math.round(height)];
}

/** The ranks of one open group as rows of items, settled; all lengths are those of the group alone. */
function arrangeGroup(group, inner, open, direction) {
  const items = group.children.map((child) => {
    const item = child.node === undefined ? model.groups[child.group] : model.nodes.get(child.node);
    const made = inner.get(item.members ? item.index : null);
    const box = made ? null : boxSize(item);
    const [across, along] = made ? [made.width, made.depth] : direction === "down" ? box : [box[1], box[0]];
    return { item, made, box, across, along, at: 0 };
  });
  for (let k = 0; k < group.points; k += 1) items.push({ item: null, made: null, across: 0, along: 0, at: 0 });
  const rows = group.ranks.map((rank) => rank.map((place) => items[place]));
  rows.forEach((row, r) => row.forEach((item) => (item.rank = r)));
  pullItems(group, items);
  straighten(rows);
  return measured(group, items, rows, direction);
}

/** How far from the middle of an open group an edge of the group around it begins or ends. */
function portOffset(item, edge, leaves) {
  if (!item.made) return 0;
  const ports = leaves ? item.made.leaving : item.made.entering;
  return ports.has(edge) ? ports.get(edge) - item.made.width / 2 : 0;
}

/** What draws each item to its neighbors on the rank before and on the rank after. */
function pullItems(group, items) {
  for (const item of items) Object.assign(item, { above: [], below: [], depth: 0, deepest: 0 });
  const pairs = [];
  group.edges.forEach((path, edge) => {
    for (let k = 1; k < path.length; k += 1) {
      const [upper, lower] = [items[path[k - 1]], items[path[k]]];
      if (lower.rank === upper.rank + 1) pairs.push([upper, lower, portOffset(upper, edge, true) - portOffset(lower, edge, false)]);
    }
  });
  pairs.sort((a, b) => b[1].rank - a[1].rank);
  const below = (lower) => lower.depth + (lower.item ? 1.5 : 1);      // of two as deep, a box before a point
  for (const [upper, lower] of pairs) {
    upper.deepest = Math.max(upper.deepest, below(lower));
    upper.depth = Math.floor(upper.deepest);
  }
  for (const [upper, lower, shift] of pairs) {
    const weight = !upper.item && !lower.item ? WEIGHTS.long : below(lower) === upper.deepest ? WEIGHTS.deepest : WEIGHTS.other;
    lower.above.push([upper, shift, weight]);
    upper.below.push([lower, -shift, weight]);
  }
}

/** Sweeps over the rows that bring each item near its neighbors. */
function straighten(rows) {
  const packed = rows.map((row) => {
    const steps = [0];
    for (let k = 1; k < row.length; k += 1) {
      const gap = row[k - 1].item && row[k].item ? GAPS.boxes : GAPS.points;
      steps.push(steps[k - 1] + (row[k - 1].across + row[k].across) / 2 + gap);
    }
    row.forEach((item, k) => (item.at = steps[k] - steps.at(-1) / 2));
    return steps;
  });
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (let r = 1; r < rows.length; r += 1) settleRow(rows[r], packed[r], (item) => item.above);
    for (let r = rows.length - 2; r >= 0; r -= 1) settleRow(rows[r], packed[r], (item) => item.below);
  }
  rows.forEach((row, r) => settleRow(row, packed[r], (item) => [...item.above, ...item.below]));
  inColumns(rows, packed);
}

/** Items that come too close form a block, which stands at the mean of what its items want (least squares). */
function settleRow(row, steps, pullsOf) {
  const blocks = [];
  row.forEach((item, k) => {
    let [at, weight, count] = [item.at - steps[k], 0.01, 1];
    const pulls = pullsOf(item);
    if (pulls.length) {
      weight = pulls.reduce((sum, pull) => sum + pull[2], 0);
      at = pulls.reduce((sum, [other, shift, share]) => sum + (other.at + shift) * share, 0) / weight - steps[k];
    }
    while (blocks.length && blocks.at(-1)[0] > at) {
      const [before, heavy, many] = blocks.pop();
      at = (before * heavy + at * weight) / (heavy + weight);
      weight += heavy;
      count += many;
    }
    blocks.push([at, weight, count]);
  });
  let k = 0;
  for (const [at, , count] of blocks) for (const end = k + count; k < end; k += 1) row[k].at = at + steps[k];
}

/** The space between two ranks: little beside a rank of points, more where wires go far to the side. */
function gapAfter(row, next) {
  const bends = [row, next].some((one) => one.every((item) => !item.item));
  const aside = next.reduce((most, item) => item.above.reduce((far, [other, shift]) => Math.max(far, Math.abs(other.at + shift - item.at)), most), 0);
  return (bends ? GAPS.bends : GAPS.ranks) + Math.min(aside * SLOPE, 2 * GAPS.ranks);
}

/** The size of a settled group with its margins, and where its ports are. */
function measured(group, items, rows, direction) {
  const whole = group.index === 0;
  const [before, ahead] = whole ? [0, 0] : direction === "down" ? [GAPS.pad, GAPS.head + GAPS.pad] : [GAPS.head + GAPS.pad, GAPS.pad];
  const left = items.reduce((least, item) => Math.min(least, item.at - item.across / 2), Infinity);
  let right = 0;
  for (const item of items) {
    item.at += before - left;
    right = Math.max(right, item.at + item.across / 2);
  }
  let end = ahead;
  rows.forEach((row, r) => {
    const deep = row.reduce((most, item) => Math.max(most, item.along), 0);
    for (const item of row) [item.top, item.bottom] = [end, end + deep];
    end += deep + (r + 1 < rows.length ? gapAfter(row, rows[r + 1]) : 0);
  });
  const margin = whole ? 0 : GAPS.pad;
  const made = { items, width: Math.max(right + margin, before + margin), depth: end + margin, entering: new Map(), leaving: new Map() };
  if (group.repeats > WRAP.least) wrap(made, rows);
  if (!whole && direction === "down") widenForTitle(made, group);
  for (const [edge, place] of group.ports) (items[place].rank === 0 ? made.entering : made.leaving).set(edge, items[place].at);
  return made;
}

/** The title of a frame must fit above its boxes. */
function widenForTitle(made, group) {
  const missing = textWidth(`${groupTitle(group)} ${group.class ?? ""}`, FONTS.name) + 60 - made.width;
  if (missing <= 0) return;
  made.width += missing;
  for (const item of made.items) item.at += missing / 2;
}

/** Puts a group's boxes at their places in the scene, joins them with wires, and queues the open groups inside. */
function settleGroup(scene, [group, made, across, along], inner, queue) {
  for (const item of made.items) {
    Object.assign(item, { a: across + item.at, l: along + item.top, end: along + item.bottom });
    if (!item.item) {
      item.entry = item.exit = [newStop(scene, item.a, item.l), newStop(scene, item.a, item.end)];
      join(scene, item.entry[0], item.entry[1]);
      continue;
    }
    const a = item.a - item.across / 2;
    const l = (item.l + item.end - item.along) / 2;
    if (item.made) queue.push([item.item, item.made, a, l]);
    addBox(scene, item, a, l);
  }
  group.edges.forEach((path, edge) => {
    for (let k = 1; k < path.length; k += 1) joinItems(scene, made.items[path[k - 1]], made.items[path[k]], edge);
  });
  for (const [edge, place] of group.ports) joinPort(scene, group, made.items[place], edge, inner);
}

const keyOf = (item) => (item.members ? `g${item.index}` : `n${item.id}`);

function addBox(scene, item, a, l) {
  const down = scene.direction === "down";
  const box = {
    key: keyOf(item.item), item: item.item, open: Boolean(item.made), position: item.item.position,
    x: down ? a : l, y: down ? l : a, width: down ? item.across : item.along, height: down ? item.along : item.across,
  };
  scene.byKey.set(box.key, box);
  (item.made ? scene.frames : scene.boxes).push(box);
  item.boxed = box;
  item.ports = new Map();
  if (!item.made) {
    item.entry = [newStop(scene, item.a, item.l), newStop(scene, item.a, l)];
    item.exit = [newStop(scene, item.a, l + item.along), newStop(scene, item.a, item.end)];
    box.top = item.entry[1];
    box.bottom = item.exit[0];
    box.top.head = true;
  } else Object.assign(box, { item: item.item, port: (edge, leaves) => portStops(scene, item, edge, leaves, l) });
}

/** The stops at the border of an open group for one edge of the group around it: at the rank's edge, at the border. */
function portStops(scene, item, edge, leaves, l) {
  const key = leaves ? edge : -1 - edge;
  if (!item.ports.has(key)) {
    const a = item.a + portOffset(item, edge, leaves);
    const border = newStop(scene, a, leaves ? l + item.along : l);
    const gate = newStop(scene, a, leaves ? item.end : item.l);
    if (leaves) join(scene, border, gate);
    else join(scene, gate, border);
    item.ports.set(key, { border, gate });
  }
  return item.ports.get(key);
}

/** Joins two items of neighboring ranks: from the border of one to the edge of its rank, across, and to the other. */
function joinItems(scene, upper, lower, edge) {
  if (upper.boxed && !upper.made) join(scene, ...upper.exit);
  if (lower.boxed && !lower.made) join(scene, ...lower.entry);
  const from = upper.made ? upper.boxed.port(edge, true).gate : upper.exit[1];
  const to = lower.made ? lower.boxed.port(edge, false).gate : lower.entry[0];
  markLane(upper, lower, to);
  join(scene, from, to);
}

/** Joins a port on a group's border with the point inside where its edge goes on. */
function joinPort(scene, group, item, edge) {
  const leaves = item.rank !== 0;
  const { border } = scene.byKey.get(keyOf(group)).port(edge, leaves);
  if (leaves) join(scene, item.exit[1], border);
  else join(scene, border, item.entry[0]);
}

/** A place through which wires run. */
function newStop(scene, a, l) {
  const [x, y] = scene.direction === "down" ? [a, l] : [l, a];
  return { x, y, next: new Set(), last: new Set(), head: false };
}

function join(scene, from, to) {
  if (from === to || from.next.has(to)) return;
  from.next.add(to);
  to.last.add(from);
  if (from.x !== to.x || from.y !== to.y) scene.wires.push([from, to]);
}

/** The wires between a box and all boxes that it sends gradients to ("next") or receives them from ("last"). */
function routes(box, way) {
  const found = [];
  const stack = box[way === "next" ? "bottom" : "top"] ? [box[way === "next" ? "bottom" : "top"]] : [];
  const seen = new Set(stack);
  while (stack.length) {
    const stop = stack.pop();
    for (const other of stop[way]) {
      found.push(way === "next" ? [stop, other] : [other, stop]);
      if (!seen.has(other)) stack.push(other);
      seen.add(other);
    }
  }
  return found;
}

/** A wire as path data: straight where it can be, else a curve that leaves and arrives along the flow. */
function wirePath([from, to], direction) {
  if (isBack(from, to, direction)) return lanePath(from, to, direction);
  if (from.x === to.x || from.y === to.y) {
    const flows = direction === "down" ? from.x === to.x : from.y === to.y;
    if (flows) return `M${round(from.x)} ${round(from.y)}L${round(to.x)} ${round(to.y)}`;
  }
  if (direction === "down") {
    const bend = Math.max(14, Math.abs(to.y - from.y) / 2);
    return `M${round(from.x)} ${round(from.y)}C${round(from.x)} ${round(from.y + bend)} ${round(to.x)} ${round(to.y - bend)} ${round(to.x)} ${round(to.y)}`;
  }
  const bend = Math.max(14, Math.abs(to.x - from.x) / 2);
  return `M${round(from.x)} ${round(from.y)}C${round(from.x + bend)} ${round(from.y)} ${round(to.x - bend)} ${round(to.y)} ${round(to.x)} ${round(to.y)}`;
}

const round = (x) => Math.round(x * 10) / 10;

/** A small arrow head that ends at a stop. */
function headPath(stop, direction) {
  const [x, y] = [round(stop.x), round(stop.y)];
  return direction === "down" ? `M${x - 3.5} ${y - 7}L${x + 3.5} ${y - 7}L${x} ${y}Z` : `M${x - 7} ${y - 3.5}L${x - 7} ${y + 3.5}L${x} ${y}Z`;
}
