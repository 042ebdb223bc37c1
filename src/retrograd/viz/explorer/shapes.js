// The outlines of boxes: leaves, operators, views, writes, functions and groups differ by shape.
"use strict";

/** The outline of a box as path data, its corner at 0, 0. */
function outline(kind, width, height) {
  const [w, h] = [width, height];
  if (kind === "leaf") return rounded(w, h, h / 2);
  if (kind === "view") return `M9 0H${w}L${w - 9} ${h}H0Z`;
  if (kind === "write") return `${rounded(w, h, 2)}M5 0V${h}M${w - 5} 0V${h}`;
  if (kind === "function") return `M8 0H${w - 8}L${w} 8V${h - 8}L${w - 8} ${h}H8L0 ${h - 8}V8Z`;
  if (kind === "group") return `${rounded(w, h - 4, 6)}M5 ${h - 2}H${w - 5}M9 ${h}H${w - 9}`;
  return rounded(w, h, 6);
}

function rounded(w, h, r) {
  return `M${r} 0H${w - r}A${r} ${r} 0 0 1 ${w} ${r}V${h - r}A${r} ${r} 0 0 1 ${w - r} ${h}H${r}A${r} ${r} 0 0 1 0 ${h - r}V${r}A${r} ${r} 0 0 1 ${r} 0Z`;
}

const kindOf = (item) => (item.members ? "group" : item.kind);
const kindText = { leaf: "leaf", operator: "operator", view: "view", write: "write in place", function: "custom function", group: "group" };

/** What is told of a box aloud: first what one sees, then its full name, kind, module, place in the pass, and problem. */
function spokenText(item) {
  item.words ??= boxWords(item);
  const [name, beside] = item.words;
  const open = item.members && state.open.has(item.index);
  const problem = item.problem && !open ? problemText[item.problem] : null;
  const seen = [name, beside, open ? null : noteText(item, state.color), problem].filter(Boolean).join(" ");
  if (item.members) return [seen, open ? `open group of ${counted(item.members.length, "node")}` : "folded group"].join(", ");
  const full = item.label && item.label !== item.name ? [item.label, item.name] : [item.name];
  return [seen, ...full, kindText[item.kind], whereText(item), item.position === null ? "not in the pass" : `step ${item.position + 1}`].filter(Boolean).join(", ");
}
