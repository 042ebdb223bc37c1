// Joins the parts: what is painted after which change, what clicks and keys do, and the start.
"use strict";

/** Paints what depends on the parts of the state that changed. */
function paint(changed) {
  const has = (...names) => names.some((name) => changed.has(name));
  if (has("find")) searchAgain();
  if (has("open", "direction")) rearrange();
  if (has("open", "direction", "view")) sync();
  if (has("color", "theme")) paintLegend();
  if (has("color", "node", "group", "step", "find", "open", "direction", "theme")) repaint();
  if (has("color", "node", "group", "open", "theme")) paintInspector();
  if (has("color", "node", "step", "theme")) paintScrubber();
  paintControls();
}

function paintControls() {
  for (const radio of document.querySelectorAll('[name="color"]')) radio.checked = radio.value === state.color;
  byId("direction").setAttribute("aria-pressed", state.direction === "right");
  byId("copynode").hidden = chosenItem() === null;
  byId("overview").hidden = chosenItem() === null;
  document.body.classList.toggle("walking", state.step !== null);
}

/** Chooses a node or group. What hides it is unfolded if asked, and it comes into sight. */
function choose(item, unfold = false) {
  if (unfold) {
    const open = new Set([...state.open, ...groupsAround(item)]);
    followed.clear();
    if (!sameSet(open, state.open)) change({ open });
  }
  const step = state.step !== null && !item.members && item.position !== null ? item.position : state.step;
  change(item.members ? { group: item.index, node: null } : { node: item.id, group: null, step }, true);
  reveal(boxOf(item));
}

function toggleGroup(group, open = !state.open.has(group.index)) {
  if (group.index === 0) return;
  const groups = new Set(state.open);
  if (open) groups.add(group.index);
  else groups.delete(group.index);
  followed.delete(group.index);
  keeping(`g${group.index}`, () => change({ open: groups }));
}

/** Folds or unfolds everything, or turns the graph, and shows it from its start or where the chosen node is. */
function survey(changes) {
  followed.clear();
  change(changes);
  const item = chosenItem();
  look(wholeView());
  if (item) reveal(boxOf(item));
}

/** What a click in the graph means. */
function clickAt(event) {
  const element = event.target.closest("[data-key]");
  if (!element) return state.step === null ? change({ node: null, group: null }, true) : undefined;
  const { item } = scene.byKey.get(element.dataset.key);
  element.focus({ preventScroll: true });
  if (event.target.closest(".reach")) return toggleGroup(item);
  return choose(item);
}

function startControls() {
  for (const radio of document.querySelectorAll('[name="color"]')) radio.addEventListener("change", () => change({ color: radio.value }));
  const clicks = {
    foldall: () => survey({ open: new Set([0]) }), unfoldall: () => survey({ open: allGroups() }),
    direction: () => survey({ direction: state.direction === "down" ? "right" : "down" }),
    fit: () => look(wholeView(0)), nearer: () => zoomMiddle(1.25), farther: () => zoomMiddle(0.8),
    link: copyLink, copynode: copyLink, svg: saveSvg, help: showHelp, overview: clearChoice, sheet: toggleSheet, more: toggleMore,
    skip: () => byId("inspector").focus(), closehelp: () => byId("keys").close(),
  };
  for (const [id, click] of Object.entries(clicks)) byId(id).addEventListener("click", click);
  graph().addEventListener("dblclick", (event) => {
    const element = event.target.closest("[data-key]");
    if (element && scene.byKey.get(element.dataset.key).item.members) toggleGroup(scene.byKey.get(element.dataset.key).item);
  });
  graph().addEventListener("focusin", (event) => {
    const element = event.target.closest("[data-key]");
    if (element?.matches(":focus-visible")) reveal(scene.byKey.get(element.dataset.key));
  });
}

const showHelp = () => byId("keys").showModal();
const clearChoice = () => change({ node: null, group: null, step: null }, true);

function toggleSheet() {
  const open = document.body.classList.toggle("sheetopen");
  byId("sheet").setAttribute("aria-expanded", open);
  if (chosenItem()) reveal(boxOf(chosenItem()));
}

function toggleMore() {
  const open = byId("extras").classList.toggle("shown");
  byId("more").setAttribute("aria-expanded", open);
}

/** What keys do that no control in focus takes for itself. */
const KEYS = {
  ArrowRight: () => stepBy(1), ArrowLeft: () => stepBy(-1), ArrowDown: () => along("next"), ArrowUp: () => along("last"),
  Home: () => goTo(0), End: () => goTo(model.steps.length - 1), " ": togglePlay, "/": () => byId("search").select(), "?": showHelp,
  "+": () => zoomMiddle(1.25), "=": () => zoomMiddle(1.25), "-": () => zoomMiddle(0.8), 0: () => look(wholeView(0)),
  f: () => survey({ open: new Set([0]) }), u: () => survey({ open: allGroups() }), d: () => byId("direction").click(), c: copyLink,
};
const PANS = { ArrowRight: [-80, 0], ArrowLeft: [80, 0], ArrowDown: [0, -80], ArrowUp: [0, 80] };

function onKey(event) {
  const at = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  if (at.matches('input[type="search"], textarea')) return;
  const key = at.closest?.("[data-key]")?.dataset.key;
  if (event.key === "Escape") return escape();
  if (key && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    const { item } = scene.byKey.get(key);
    return item.members && (chosenItem() === item || event.key === " ") ? toggleGroup(item) : choose(item);
  }
  if (at.matches("input, button, summary, select") && (event.key === " " || event.key === "Enter")) return;
  if (at.matches('input[type="radio"]') && event.key.startsWith("Arrow")) return;
  if (at.closest?.("#inspector") && /^(ArrowUp|ArrowDown|Home|End)$/.test(event.key)) return;
  if (at.matches("pre") && event.key.startsWith("Arrow")) return;
  if (event.shiftKey && PANS[event.key]) pan(...PANS[event.key]);
  else if (Object.hasOwn(KEYS, event.key)) KEYS[event.key]();
  else return;
  event.preventDefault();
}

/** Goes along the wires: down to where the chosen node sends its first gradient, up to where it receives one. */
function along(way) {
  const item = chosenItem();
  if (item === null || item.members) return choose(model.order[0]);
  const id = way === "next" ? targets(item)[0] : item.users[0];
  return id === undefined ? undefined : choose(model.nodes.get(id));
}

function escape() {
  stopPlay();
  if (byId("extras").classList.contains("shown")) return toggleMore();
  if (state.find) return change({ find: "" });
  return clearChoice();
}

/** Takes the state from the address. */
function follows() {
  const given = readAddress(location.hash);
  const { view } = given;
  if (state.open && sameSet(given.open, state.open)) given.open = state.open;
  const names = Object.keys(given).filter((name) => given[name] !== state[name] && name !== "view");
  Object.assign(state, given, { view: view ?? state.view });
  paint(new Set(names));
  look(view ?? state.view ?? wholeView());
}

function start() {
  startBeside();
  Object.assign(state, readAddress(location.hash));
  searchAgain();
  rearrange();
  const given = state.view;
  state.view = given ?? wholeView();
  paintShapes();
  startControls();
  startCamera();
  startScrubber();
  startSearch();
  sync();
  paint(new Set(["color", "node"]));
  if (!given) state.view = wholeView();                    // now that the legend has taken its place
  sync();
  if (!given && chosenItem()) reveal(boxOf(chosenItem()));
  addEventListener("keydown", onKey);
  addEventListener("popstate", follows);
  addEventListener("resize", () => { sync(); paintTicks(); });
  dark.addEventListener("change", () => paint(new Set(["theme"])));
}

start();
