// Draws the scene: only what is in sight, and words only where they can be read.
"use strict";

let scene = null;
const drawn = new Map();
let detail = 2;
let wholeDrawn = false;

const graph = () => byId("graph");

/** Computes the scene anew, after folding or turning. */
function rearrange() {
  scene = arrange(state.open, state.direction);
  clearDrawing();
}

function clearDrawing() {
  for (const element of drawn.values()) element.remove();
  drawn.clear();
}

/** The box that stands for an item: its own, or that of the outermost folded group around it. */
function boxOf(item) {
  let found = item;
  for (let at = item.home; at !== null && at !== undefined; at = model.groups[at].home) {
    if (!state.open.has(at)) found = model.groups[at];
  }
  return scene.byKey.get(keyOf(found));
}

/** What is chosen: a node, a group, or nothing. */
function chosenItem() {
  if (state.node !== null) return model.nodes.get(state.node);
  return state.group === null ? null : model.groups[state.group];
}

/** Brings the picture in line with the camera: adds what came into sight and removes what left it. */
function sync() {
  const { x, y, k } = state.view;
  byId("camera").setAttribute("transform", `translate(${x} ${y}) scale(${k})`);
  const next = k < 0.36 ? 0 : k < 0.6 ? 1 : 2;
  if (next !== detail) clearDrawing();
  detail = next;
  graph().dataset.detail = detail;
  graph().style.setProperty("--thin", Math.max(1.4, 0.9 / k));
  const area = sight(120);
  const inSight = (box) => box.x < area.right && box.x + box.width > area.left && box.y < area.bottom && box.y + box.height > area.top;
  const frames = scene.frames.filter((box) => box.item.index !== 0 && inSight(box));
  place(byId("frames"), frames, frameElement, "f");
  place(byId("titles"), frames, titleElement);
  place(byId("boxes"), scene.boxes.filter(inSight), boxElement);
  const wires = scene.wires.filter(([a, b]) => Math.min(a.x, b.x) < area.right && Math.max(a.x, b.x) > area.left
    && Math.min(a.y, b.y) < area.bottom && Math.max(a.y, b.y) > area.top);
  byId("wires").setAttribute("d", wires.map((wire) => (wire.path ??= wirePath(wire, scene.direction))).join(""));
  const heads = detail ? wires.filter(([, to]) => to.head).map(([, to]) => headPath(to, scene.direction)) : [];
  byId("heads").setAttribute("d", heads.join(""));
}

/** Makes a layer show exactly these boxes, in this order, so that Tab follows the pass. */
function place(layer, boxes, build, mark = "") {
  const wanted = new Set(boxes.map((box) => box.key));
  for (const element of [...layer.children]) {
    if (wanted.has(element.dataset.key)) continue;
    drawn.delete(mark + element.dataset.key);
    element.remove();
  }
  let cursor = layer.firstElementChild;
  for (const box of boxes) {
    let element = drawn.get(mark + box.key);
    if (!element) {
      element = build(box);
      drawn.set(mark + box.key, element);
      dress(box, element);
    }
    if (element === cursor) cursor = cursor.nextElementSibling;
    else layer.insertBefore(element, cursor);
  }
}

/** The part of the graph that is in sight, and a margin around it; all of it for a picture. */
function sight(margin) {
  if (wholeDrawn) return { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
  const { x, y, k } = state.view;
  const { clientWidth, clientHeight } = graph();
  return { left: (-margin - x) / k, top: (-margin - y) / k, right: (clientWidth + margin - x) / k, bottom: (clientHeight + margin - y) / k };
}

function boxElement(box) {
  const element = draw("g", { class: `box ${kindOf(box.item)}`, "data-key": box.key, role: "button", tabindex: 0, transform: `translate(${round(box.x)} ${round(box.y)})` });
  element.append(draw("title", {}, hintText(box.item)), draw("path", { class: "halo", d: rounded(box.width + 10, box.height + 10, 10), transform: "translate(-5 -5)" }),
    draw("path", { class: "body", d: outline(kindOf(box.item), box.width, box.height) }));
  if (detail > 0) {
    const [name, beside] = box.item.words;
    const middle = box.width / 2;
    const room = box.width - BOX.margin;
    const first = fitted(name, FONTS.name, room);
    const second = fitted(beside, FONTS.note, Math.max(20, room - textWidth(first, FONTS.name) - 6));
    element.append(draw("text", { class: "name", x: middle, y: 18 }, first, beside ? draw("tspan", { class: "beside", dx: 3 }, ` ${second}`) : null),
      draw("text", { class: "note", x: middle, y: 34 }));
    if (box.item.mini && (detail > 1 || box.item.mini.picture)) element.append(...miniatureParts(box.item.mini, middle, BOX.mini));
  }
  return element;
}

/** The numbers or the heat map of a miniature, its middle and its top at x, y. */
function miniatureParts({ lines, picture, width, height }, x, y) {
  if (picture) return [thumb(picture, x - width / 2, y, width, height)];
  return lines.map((line, k) => draw("text", { class: "few", x, y: y + 9 + 13 * k }, line));
}

/** What a pointer that rests on a box is told. */
function hintText(item) {
  const site = item.site ? [siteText(item.site), sourceLine(item.site)?.trim()].filter(Boolean).join(": ") : null;
  return [item.members ? groupTitle(item) : item.name, item.members ? null : whereText(item), site].filter(Boolean).join("\n");
}

function frameElement(box) {
  return draw("g", { class: "frame", "data-key": box.key, transform: `translate(${round(box.x)} ${round(box.y)})`, "data-depth": depthOf(box.item) % 2 },
    draw("rect", { class: "body", width: round(box.width), height: round(box.height), rx: 10 }));
}

/** The title of a frame, above the wires. */
function titleElement(box) {
  const { item } = box;
  const title = item.class && item.path ? [draw("tspan", { class: "name" }, groupTitle(item)), draw("tspan", { class: "note", dx: 3 }, ` ${item.class}`)] : [draw("tspan", { class: "name" }, groupTitle(item))];
  return draw("g", { class: "title", "data-key": box.key, role: "button", tabindex: 0, transform: `translate(${round(box.x)} ${round(box.y)})`, "data-depth": depthOf(item) % 2 },
    draw("rect", { class: "foldbox", x: 9.5, y: 8.5, width: 13, height: 13, rx: 3 }),
    draw("path", { class: "fold", d: "M12.5 15H19.5" }),
    draw("rect", { class: "reach", x: 4, y: 3, width: 24, height: 24 }),
    draw("text", { x: 30, y: 19.5 }, ...title));
}

function depthOf(group) {
  let depth = 0;
  for (let at = group.home; at !== null; at = model.groups[at].home) depth += 1;
  return depth;
}

/** Color, outline and words that depend on the state. */
function dress(box, element) {
  const { item } = box;
  const progress = box.open ? "done" : progressOf(item);
  const fill = box.open ? null : progress === "ahead" || progress === "waiting" ? NEUTRAL[dark.matches ? "dark" : "light"] : itemColor(item, state.color);
  if (fill) element.querySelector(".body").setAttribute("style", `fill: ${fill}`);
  if (fill) element.style.setProperty("--ink", inkOn(fill));
  const chosen = chosenItem() === item;
  const current = state.step !== null && contains(item, model.steps[state.step].node) && !box.open;
  if (element.hasAttribute("role")) {
    element.setAttribute("aria-label", spokenText(item));
    element.setAttribute("aria-pressed", chosen);
  }
  const faded = state.find && !box.open && !isFound(item);
  const flags = { chosen: chosen || (!box.open && chosenItem() && boxOf(chosenItem()) === box), current, ahead: progress === "ahead", waiting: progress === "waiting", faded, found: state.find && !box.open && isFound(item), wrong: item.problem, different: !box.open && besideMark(item), flagged: item.problem && progress !== "ahead" };
  for (const [name, on] of Object.entries(flags)) element.classList.toggle(name, Boolean(on));
  if (box.open) return;
  badge(box, element);
  const note = element.querySelector(".note");
  if (note) note.textContent = ` ${fitted(noteText(item, state.color), FONTS.note, box.width - BOX.margin + 4)}`;
}

const contains = (item, id) => (item.members ? (item.memberSet ??= new Set(item.members)).has(id) : item.id === id);

/** Where an item stands in the pass that is walked: done, current, waiting with a gradient, or ahead. */
function progressOf(item) {
  if (state.step === null) return "done";
  if (!item.members) {
    if (item.position !== null && item.position <= state.step) return "done";
    return item.first !== null && item.first <= state.step ? "waiting" : "ahead";
  }
  const inner = item.members.map((id) => progressOf(model.nodes.get(id)));
  if (inner.includes("done")) return "done";
  return inner.includes("waiting") ? "waiting" : "ahead";
}

/** A red badge that says what is wrong, or else a badge that says what differs from the other pass. */
function badge(box, element) {
  element.querySelector(".flag")?.remove();
  const wrong = box.item.problem ? problemText[box.item.problem] : null;
  const text = wrong ?? besideMark(box.item);
  if (!text || progressOf(box.item) === "ahead") return;
  const width = Math.round(textWidth(text, FONTS.mark)) + 14;
  element.append(draw("g", { class: wrong ? "flag" : "flag different", transform: `translate(${round(box.width - width + 6)} -13)` },
    draw("rect", { width, height: 18, rx: 9 }), draw("text", { x: width / 2, y: 13 }, ` ${text}`)));
}

/** Brings colors and marks of everything drawn in line with the state. */
function repaint() {
  for (const element of drawn.values()) dress(scene.byKey.get(element.dataset.key), element);
  paintRoutes();
}

/** The wires of what is chosen: where its gradients go, where they come from, and the norms of the present step. */
function paintRoutes() {
  const item = chosenItem();
  const box = item && boxOf(item);
  const path = (wires) => wires.map((wire) => wirePath(wire, scene.direction)).join("");
  const going = box && !box.open ? routes(box, "next") : [];
  byId("going").setAttribute("d", path(going));
  byId("goingheads").setAttribute("d", going.filter(([, to]) => to.head).map(([, to]) => headPath(to, scene.direction)).join(""));
  byId("coming").setAttribute("d", path(box && !box.open ? routes(box, "last") : []));
  const at = state.step ?? (item && !item.members ? item.position : null);
  byId("marks").replaceChildren(...(at === null ? [] : arrivalMarks(model.steps[at])));
}

/** The gradients that a step sends, beside the boxes where they arrive: their numbers, or norms and heat maps. */
function arrivalMarks(step) {
  const texts = new Map();
  for (const arrival of step.arrivals ?? []) {
    const node = model.nodes.get(arrival.to);
    const box = node && boxOf(node);
    if (box && !contains(box.item, step.node)) texts.set(box, [...(texts.get(box) ?? []), arrival]);
  }
  return [...texts].map(([box, all]) => arrivalMark(box, all));
}

/** One mark. A box that stands for a group may receive several gradients: the mark has the norms of the first three. */
function arrivalMark(box, arrivals) {
  const mini = miniature(arrivals.length === 1 && !box.item.members ? pictureThere(arrivals[0]) : null, number(arrivals[0].norm));
  if (mini.picture) Object.assign(mini, { width: Math.max(THUMB.least, mini.width / 2), height: Math.min(11, mini.height) });
  const sign = ({ adds }) => (adds ? "+ " : "");
  const few = mini.lines.length > 0;
  const text = few ? sign(arrivals[0]) : arrivals.slice(0, 3).map((one) => `${sign(one)}${digits(one.norm)}`).join(", ");
  const wide = text ? Math.round(textWidth(text, FONTS.mark)) : 0;
  const beside = mini.width ? mini.width + (wide ? 6 : 0) : 0;
  const [width, height] = [wide + beside + 12, Math.max(17, mini.height + 5)];
  const [x, y] = scene.direction === "down" ? [box.top.x - width / 2, box.top.y - height - 8] : [box.top.x - width - 6, box.top.y - height - 7];
  return draw("g", { class: "mark", transform: `translate(${round(x)} ${round(y)})` },
    draw("rect", { width, height, rx: 4 }), text ? draw("text", { x: 6 + wide / 2, y: height / 2 + 4 }, text) : null,
    ...(mini.width ? miniatureParts(mini, width - 6 - mini.width / 2, (height - mini.height) / 2 + (few ? 0.5 : 0)) : []));
}
