// Pan and zoom: by wheel, pointer, pinch and keys.
"use strict";

const ZOOM = { least: 0.03, most: 3 };

/** The zoom, within its limits. The whole graph can always be shown. */
function zoomed(k) {
  const whole = Math.min(graph().clientWidth / scene.width, freeHeight() / scene.height) / 1.2;
  return Math.min(ZOOM.most, Math.max(Math.min(ZOOM.least, whole), k));
}
const BRIEF = 4;
let frame = 0;

/** Moves the camera; the picture follows at the next frame. */
function look(view) {
  const k = zoomed(view.k);
  state.view = { x: view.x, y: view.y, k };
  if (!frame) {
    frame = requestAnimationFrame(() => {
      frame = 0;
      sync();
    });
  }
  writeAddress();
}

/** Zooms so that the point at x, y on the page stays where it is. */
function zoomAt(x, y, factor) {
  const { view } = state;
  const k = zoomed(view.k * factor);
  look({ x: x - ((x - view.x) * k) / view.k, y: y - ((y - view.y) * k) / view.k, k });
}

const zoomMiddle = (factor) => zoomAt(graph().clientWidth / 2, freeHeight() / 2, factor);
const pan = (dx, dy) => look({ ...state.view, x: state.view.x + dx, y: state.view.y + dy });

/** The height of the graph that the open sheet of a narrow page does not cover. */
function freeHeight() {
  const sheet = byId("inspector").getBoundingClientRect();
  const area = graph().getBoundingClientRect();
  return sheet.top > area.top + 80 && sheet.left < area.left + 10 ? Math.min(area.height, sheet.top - area.top) : area.height;
}

/** The camera that shows the whole graph, or as much from its start as can still be read. */
function wholeView(least = graph().clientWidth > 600 ? 0.85 : 0.7) {
  const { clientWidth } = graph();
  const height = freeHeight();
  const margin = Math.min(48, clientWidth / 12);
  const whole = Math.min((clientWidth - 2 * margin) / scene.width, (height - 2 * margin) / scene.height);
  const k = Math.max(Math.min(whole, 1.15), least);
  const down = scene.direction === "down";
  const start = scene.boxes[0];
  const spare = [clientWidth - scene.width * k, height - scene.height * k];
  const fits = (room) => room > 2 * margin - 0.01; // the zoom that leaves just the margins is rounded
  const x = fits(spare[0]) || !start ? spare[0] / 2 : down ? clientWidth / 2 - (start.x + start.width / 2) * k : margin;
  const y = fits(spare[1]) || !start ? spare[1] / 2 : down ? margin : height / 2 - (start.y + start.height / 2) * k;
  return { x, y: down && spare[1] > 0 ? Math.min(y, 2 * margin) : y, k };
}

/** Brings a box that is not wholly in sight to the middle; of an open group, its title. */
function reveal(box) {
  if (!box) return;
  const { x, y, k } = state.view;
  const margin = 24;
  const shift = (from, to, most) => (from < margin || to > most - margin ? (most - from - to) / 2 : 0);
  const width = Math.min(box.width, box.open ? 200 : Infinity);
  const height = Math.min(box.height, box.open ? 30 : Infinity);
  const dx = shift(box.x * k + x, (box.x + width) * k + x, graph().clientWidth);
  const dy = shift(box.y * k + y, (box.y + height) * k + y, freeHeight());
  if (dx || dy) pan(dx, dy);
}

/** Does something to the scene and keeps a box at its place on the screen. */
function keeping(key, doing) {
  const before = scene.byKey.get(key);
  const corner = (box) => [box.x + box.width / 2, box.y];
  const at = before && corner(before);
  doing();
  const after = scene.byKey.get(key);
  if (!at || !after) return;
  const now = corner(after);
  look({ ...state.view, x: state.view.x + (at[0] - now[0]) * state.view.k, y: state.view.y + (at[1] - now[1]) * state.view.k });
}

/** One pointer drags, two pinch, the wheel zooms; a press that does not move is a click. */
function startCamera() {
  const area = graph();
  const pointers = new Map();
  let moved = 0;
  const point = (event) => ({ x: event.clientX - area.getBoundingClientRect().left, y: event.clientY - area.getBoundingClientRect().top });
  area.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = point(event);
    const step = event.deltaY * (event.deltaMode === 1 ? 20 : 1);
    zoomAt(at.x, at.y, Math.exp(-step * (event.ctrlKey ? 0.01 : 0.0018)));
  }, { passive: false });
  area.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (!pointers.size) moved = 0;
    pointers.set(event.pointerId, point(event));
  });
  addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    moved += Math.abs(event.movementX) + Math.abs(event.movementY);
    if (moved > BRIEF) follow(pointers, event.pointerId, point(event));
    if (moved > BRIEF) area.classList.add("dragged");
    pointers.set(event.pointerId, point(event));
  });
  const release = (event) => {
    pointers.delete(event.pointerId);
    if (!pointers.size) area.classList.remove("dragged");
  };
  addEventListener("pointerup", release);
  addEventListener("pointercancel", release);
  area.addEventListener("click", (event) => (moved > BRIEF ? (moved = 0) : clickAt(event)));
}

/** Moves the camera as a pointer moved from where it was. */
function follow(pointers, id, now) {
  const before = pointers.get(id);
  if (pointers.size === 1) return pan(now.x - before.x, now.y - before.y);
  const other = [...pointers].find(([key]) => key !== id)[1];
  const distance = (a) => Math.max(1, Math.hypot(a.x - other.x, a.y - other.y));
  zoomAt((now.x + other.x) / 2, (now.y + other.y) / 2, distance(now) / distance(before));
  return pan((now.x - before.x) / 2, (now.y - before.y) / 2);
}
