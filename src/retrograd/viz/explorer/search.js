// Search: by name, label, module, class, line, shape and dtype. Finds are marked in the graph and listed. The text of
// the program is searched apart: the list ends with its lines, and a line stands for all nodes that it made.
"use strict";

const MOST_FINDS = 40;
const MOST_LINES = 8;
let found = new Set();
let lines = [];
let picked = -1;

/** Everything that can be found about an item, in lower case. */
function searchText(item) {
  if (item.members) return `${item.path} ${item.class ?? ""}`.toLowerCase();
  const { site } = item;
  const outputs = (item.outputs ?? []).map(outputText);
  return [item.name, item.label, item.module, item.class, kindText[item.kind], item.problem && problemText[item.problem],
    ...outputs, site && siteText(site), site?.function].filter(Boolean).join(" ").toLowerCase();
}

/** The items in which every word of the search occurs, those with a name that begins with it first. */
function finds(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const items = [...model.groups.slice(1), ...model.order];
  const fits = items.filter((item) => {
    item.search ??= searchText(item);
    return words.every((word) => item.search.includes(word));
  });
  const rank = (item) => ((item.label || item.name || item.path).toLowerCase().startsWith(words[0]) ? 0 : 1);
  return fits.sort((a, b) => rank(a) - rank(b));
}

/** The lines of the program with every word of the search, if nodes stand at them: the site, the text, the nodes. */
function foundLines(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const lines = new Map();
  for (const node of model.order) {
    const line = sourceLine(node.site);
    if (line === null || !words.every((word) => line.toLowerCase().includes(word))) continue;
    const key = `${node.site.file}:${node.site.line}`;
    if (!lines.has(key)) lines.set(key, { site: node.site, text: line.trim(), nodes: [] });
    lines.get(key).nodes.push(node);
  }
  return [...lines.values()];
}

const isFound = (item) => found.has(item) || (item.members ?? []).some((id) => found.has(model.nodes.get(id)));

/** Marks the finds of the present search. */
function searchAgain() {
  found = new Set(finds(state.find));
  const box = byId("search");
  if (box.value !== state.find) box.value = state.find;
  lines = foundLines(state.find);
  if (!found.size) for (const line of lines) for (const node of line.nodes) found.add(node);
  byId("count").textContent = state.find ? counted(found.size, "find") : "";
}

/** What the list shows: items, and lines of the program. */
const listed = () => [...[...found].slice(0, MOST_FINDS), ...lines.slice(0, MOST_LINES)];

/** What tells a find from others of the same name: the module, the step, the line, and the norm. */
function findNote(item) {
  if (item.members) return [item.class ?? "group", counted(item.members.length, "node")].join(" · ");
  const name = item.label && item.label !== item.name ? item.name : null;
  return [name, whereText(item), item.position === null ? null : `step ${item.position + 1}`, item.site && siteText(item.site), item.norm === null ? null : digits(item.norm)].filter(Boolean).join(" · ");
}

/** The parts of a row of the list. */
function findParts(one) {
  if (one.nodes) return [make("span", { class: "title code" }, one.text), make("span", { class: "muted" }, `${siteText(one.site)} · ${counted(one.nodes.length, "node")}`)];
  return [glyphOf(one), make("span", { class: "title" }, one.members ? groupTitle(one) : one.label || one.name), make("span", { class: "muted" }, findNote(one))];
}

function showFinds() {
  const list = byId("finds");
  const shown = listed();
  const option = (one, k) => make("li", { role: "option", id: `find${k}`, class: one.nodes ? "line" : null, "aria-selected": k === picked, pointerdown: (event) => { event.preventDefault(); take(one); } }, ...findParts(one));
  list.replaceChildren(...shown.map(option));
  const open = Boolean(state.find) && document.activeElement === byId("search");
  list.hidden = !open || !shown.length;
  const box = byId("search");
  box.setAttribute("aria-expanded", !list.hidden);
  if (picked >= 0 && !list.hidden) box.setAttribute("aria-activedescendant", `find${picked}`);
  else box.removeAttribute("aria-activedescendant");
  list.children[picked]?.scrollIntoView({ block: "nearest" });
}

/** Chooses a find and unfolds what hides it. Of a line, the nodes that it made are found, and the first is chosen. */
function take(one) {
  picked = -1;
  byId("search").blur();
  if (one.nodes) change({ find: siteText(one.site) });
  choose(one.nodes ? one.nodes[0] : one, true);
}

function startSearch() {
  const box = byId("search");
  box.addEventListener("input", () => {
    picked = -1;
    change({ find: box.value });
    showFinds();
  });
  box.addEventListener("focus", showFinds);
  box.addEventListener("blur", () => { byId("finds").hidden = true; box.setAttribute("aria-expanded", false); });
  box.addEventListener("keydown", (event) => {
    const all = listed();
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves && all.length) picked = (picked + moves[event.key] + all.length + (picked < 0 && event.key === "ArrowUp" ? 1 : 0)) % all.length;
    else if (event.key === "Enter" && all.length) return take(all[Math.max(0, picked)]);
    else if (event.key === "Escape") {
      change({ find: "" });
      box.blur();
      graph().focus();
    } else return undefined;
    event.preventDefault();
    event.stopPropagation();
    return showFinds();
  });
}
