// Search: by name, label, module, class, line, shape and dtype. Finds are marked in the graph and listed.
"use strict";

const MOST_FINDS = 40;
let found = new Set();
let picked = -1;

/** Everything that can be found about an item, in lower case. */
function searchText(item) {
  if (item.members) return `${item.path} ${item.class ?? ""}`.toLowerCase();
  const { site } = item;
  const outputs = (item.outputs ?? []).map(outputText);
  return [item.name, item.label, item.module, item.class, kindText[item.kind], item.problem && problemText[item.problem],
    ...outputs, site && siteText(site), site && sourceLine(site), site?.function].filter(Boolean).join(" ").toLowerCase();
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

const isFound = (item) => found.has(item) || (item.members ?? []).some((id) => found.has(model.nodes.get(id)));

/** Marks the finds of the present search. */
function searchAgain() {
  found = new Set(finds(state.find));
  const box = byId("search");
  if (box.value !== state.find) box.value = state.find;
  byId("count").textContent = state.find ? counted(found.size, "find") : "";
}

function showFinds() {
  const list = byId("finds");
  const shown = [...found].slice(0, MOST_FINDS);
  const option = (item, k) => make("li", { role: "option", id: `find${k}`, "aria-selected": k === picked, pointerdown: (event) => { event.preventDefault(); take(item); } },
    glyphOf(item), make("span", { class: "title" }, item.members ? groupTitle(item) : item.label || item.name),
    make("span", { class: "muted" }, item.members ? item.class ?? "group" : [item.label !== item.name ? item.name : null, whereText(item)].filter(Boolean).join(" ")));
  list.replaceChildren(...shown.map(option));
  const open = Boolean(state.find) && document.activeElement === byId("search");
  list.hidden = !open || !shown.length;
  const box = byId("search");
  box.setAttribute("aria-expanded", !list.hidden);
  if (picked >= 0 && !list.hidden) box.setAttribute("aria-activedescendant", `find${picked}`);
  else box.removeAttribute("aria-activedescendant");
  list.children[picked]?.scrollIntoView({ block: "nearest" });
}

/** Chooses a find and unfolds what hides it. */
function take(item) {
  picked = -1;
  byId("search").blur();
  choose(item, true);
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
    const all = [...found].slice(0, MOST_FINDS);
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
