// What the user chose, in one place, and the same in the address, so that a link shows the same.
"use strict";

const state = { node: null, group: null, step: null, color: "norm", direction: "down", open: null, view: null, find: "" };

/** Changes the state, paints what depends on it, and writes the address. */
function change(changes, remember = false) {
  const changed = Object.keys(changes).filter((name) => state[name] !== changes[name]);
  if (!changed.length) return;
  Object.assign(state, changes);
  paint(new Set(changed));
  writeAddress(remember);
}

/** The groups that are open at first. */
const openAtFirst = () => (model.openAtFirst ??= new Set(model.data.open ?? [0]));

/** The groups around an item, the innermost first. */
function groupsAround(item) {
  const around = [];
  for (let at = item.home; at !== null && at !== undefined; at = model.groups[at].home) around.push(at);
  return around;
}

const allGroups = () => new Set(model.groups.map((group) => group.index));
const sameSet = (a, b) => a.size === b.size && [...a].every((x) => b.has(x));

/** A set of small numbers as short text: 0-3.7 */
function rangesText(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const parts = [];
  for (const x of sorted) {
    const last = parts.at(-1);
    if (last && last[1] === x - 1) last[1] = x;
    else parts.push([x, x]);
  }
  return parts.map(([a, b]) => (a === b ? a : `${a}-${b}`)).join(".");
}

function readRanges(text) {
  const found = new Set([0]);
  for (const part of text.split(".")) {
    const [a, b = a] = part.split("-").map(Number);
    for (let x = a; x <= Math.min(b, model.groups.length - 1); x += 1) if (x >= 0) found.add(x);
  }
  return found;
}

function openText() {
  if (sameSet(state.open, openAtFirst())) return null;
  if (state.open.size === 1) return "none";
  return state.open.size === model.groups.length ? "all" : rangesText(state.open);
}

/** The part of the address that holds the state. */
function addressText() {
  const view = state.view && `${Math.round(state.view.x)},${Math.round(state.view.y)},${Number(state.view.k.toPrecision(4))}`;
  const parts = {
    node: state.node, group: state.group, step: state.step === null ? null : state.step + 1,
    color: state.color === "norm" ? null : state.color, direction: state.direction === "down" ? null : state.direction,
    open: openText(), find: state.find || null, view,
  };
  const kept = Object.entries(parts).filter(([, value]) => value !== null && value !== undefined);
  return `#${kept.map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%2C", ",")}`).join("&")}`;
}

/** The state that an address asks for; what makes no sense is left out. */
function readAddress(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const whole = (name, most) => {
    const x = given.get(name);
    return x !== null && /^\d+$/.test(x) && Number(x) < most ? Number(x) : null;
  };
  const node = [...model.nodes.keys()].find((id) => String(id) === given.get("node")) ?? null;
  const open = given.get("open");
  const view = (given.get("view") ?? "").split(",").map(Number);
  const step = whole("step", model.steps.length + 1);
  const shown = step ? model.nodes.get(model.steps[step - 1].node) : model.nodes.get(node);
  const firstOpen = () => new Set([...openAtFirst(), ...(shown ? groupsAround(shown) : [])]);
  return {
    node: node ?? (step ? shown?.id ?? null : null), group: node === null ? whole("group", model.groups.length) : null, step: step ? step - 1 : null,
    color: Object.hasOwn(MEASURES, given.get("color")) ? given.get("color") : "norm",
    direction: given.get("direction") === "right" ? "right" : "down",
    open: open === "all" ? allGroups() : open === "none" ? new Set([0]) : open ? readRanges(open) : firstOpen(),
    find: given.get("find") ?? "",
    view: view.length === 3 && view.every(Number.isFinite) && view[2] > 0 ? { x: view[0], y: view[1], k: view[2] } : null,
  };
}

let writing = null;

/** Writes the address: at once as a new entry of the history, or soon in place of the present one. */
function writeAddress(remember) {
  clearTimeout(writing);
  const write = (how) => {
    try {
      history[how](null, "", addressText());
    } catch { /* A page inside another page may have no address of its own. */ }
  };
  if (remember) write("pushState");
  else writing = setTimeout(() => write("replaceState"), 120);
}
