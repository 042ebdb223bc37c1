// The scrubber: a tick for each node in the engine's order, as high as its measure, with step buttons and play.
"use strict";

const PLAY = { least: 60, most: 600, whole: 24000 };
let playing = null;

/** The groups that the walk opened, and that it closes behind itself. What the user opens or folds is no longer among them. */
let followed = new Set();

/** Walks to a step; the node of the step is chosen, and what hides it opens. Null ends the walk. */
function goTo(step, remember = false) {
  if (step === null) return change({ step: null }, remember);
  const to = Math.min(model.steps.length - 1, Math.max(0, step));
  const { node } = model.steps[to] ?? {};
  if (!model.nodes.has(node)) return undefined;
  change({ step: to, node, group: null, open: openAround(model.nodes.get(node)) }, remember);
  return reveal(boxOf(model.nodes.get(node)));
}

/** The open groups, with those around an item. What the walk opened before closes again behind it. */
function openAround(item) {
  const around = groupsAround(item);
  const open = new Set([...state.open].filter((group) => !followed.has(group) || around.includes(group)));
  followed = new Set(around.filter((group) => !state.open.has(group) || followed.has(group)));
  for (const group of around) open.add(group);
  return sameSet(open, state.open) ? state.open : open;
}

/** One step on or back. The first step on begins the walk where the chosen node is, else at the loss. */
function stepBy(by) {
  const chosen = state.step ?? model.nodes.get(state.node)?.position ?? null;
  goTo(chosen === null ? (by > 0 ? 0 : model.steps.length - 1) : chosen + by);
}

function togglePlay() {
  if (playing !== null) return stopPlay();
  if (!model.steps.length) return undefined;
  if (state.step === null || state.step === model.steps.length - 1) goTo(0);
  const pause = Math.min(PLAY.most, Math.max(PLAY.least, PLAY.whole / model.steps.length));
  playing = setInterval(() => {
    if (state.step === null || state.step >= model.steps.length - 1) stopPlay();
    else stepBy(1);
  }, pause);
  return paintPlay();
}

function stopPlay() {
  clearInterval(playing);
  playing = null;
  paintPlay();
}

function paintPlay() {
  const on = playing !== null;
  byId("play").setAttribute("aria-label", on ? "Pause" : "Play");
  byId("play").title = on ? "Pause (Space)" : "Play (Space)";
  byId("play").classList.toggle("on", on);
}

/** The ticks, the place in the pass, and what the present step does. */
function paintScrubber() {
  const slider = byId("slider");
  const count = model.steps.length;
  slider.max = Math.max(0, count - 1);
  slider.value = state.step ?? 0;
  slider.disabled = !count;
  const node = state.step === null ? null : model.nodes.get(model.steps[state.step].node);
  slider.setAttribute("aria-valuetext", node ? `step ${state.step + 1} of ${count}: ${spokenText(node)}` : "the whole pass");
  byId("back").disabled = state.step === 0 || !count;
  byId("forward").disabled = state.step === count - 1 || !count;
  byId("where").replaceChildren(make("b", {}, state.step === null ? "–" : String(state.step + 1)), ` / ${count}`);
  byId("telling").textContent = stepText(node);
  paintTicks();
}

/** What happens in a step, in one line. */
function stepText(node) {
  if (!node) return model.steps.length ? "The whole pass. Press play, or step with the arrow keys." : "No pass was recorded.";
  const { arrivals = [], frees = 0 } = model.steps[state.step];
  const adds = arrivals.filter((arrival) => arrival.adds).length;
  const parts = [node.label || node.name];
  if (node.kind === "leaf") parts.push("accumulates into .grad");
  else if (arrivals.length) parts.push(`sends ${counted(arrivals.length, "gradient")}${adds ? `, ${adds === arrivals.length ? (adds === 1 ? "which adds" : "which add") : `${adds} of which add`} to what arrived before` : ""}`);
  if (frees) parts.push(`frees ${bytes(frees)}`);
  if (model.data.totals?.bytes) parts.push(`${bytes(Math.max(0, model.held[state.step]))} still held`);
  return parts.join(" · ");
}

/** Draws the ticks: one a node, or the highest of several where the pass has more nodes than there are pixels. */
function paintTicks() {
  const canvas = byId("ticks");
  const { clientWidth: width, clientHeight: height } = canvas;
  const sharp = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [width * sharp, height * sharp];
  const pen = canvas.getContext("2d");
  pen.scale(sharp, sharp);
  const style = getComputedStyle(document.documentElement);
  const colors = Object.fromEntries(["--wrong", "--tick", "--muted", "--ink"].map((name) => [name, style.getPropertyValue(name)]));
  const wide = width / model.steps.length;
  model.steps.forEach((step, k) => {
    const node = model.nodes.get(step.node);
    if (!node) return;
    const wrong = node.problem !== null && node.problem !== undefined;
    const t = level(node, state.color) ?? 0;
    const high = wrong ? height - 6 : t === ZERO_LEVEL ? 1.5 : 5 + t * (height - 12);
    pen.globalAlpha = state.step === null || k <= state.step ? 1 : 0.35;
    pen.fillStyle = colors[wrong ? "--wrong" : "--tick"];
    const thick = Math.max(0.75, Math.min(14, wide - (wide > 4 ? 2 : 0)));
    pen.fillRect((k + 0.5) * wide - thick / 2, height - high, thick, high);
  });
  pen.globalAlpha = 1;
  const at = state.step ?? model.nodes.get(state.node)?.position ?? null;
  if (at === null) return;
  pen.fillStyle = colors[state.step === null ? "--muted" : "--ink"];
  const middle = (at + 0.5) * wide;
  pen.fillRect(middle - 1, 0, 2, height);
  pen.beginPath();
  pen.arc(middle, 4, 4, 0, 7);
  pen.fill();
}

function startScrubber() {
  byId("back").addEventListener("click", () => stepBy(-1));
  byId("forward").addEventListener("click", () => stepBy(1));
  byId("play").addEventListener("click", togglePlay);
  const slider = byId("slider");
  slider.addEventListener("input", () => goTo(Number(slider.value)));
  const scrub = (event) => {
    const area = slider.getBoundingClientRect();
    goTo(Math.floor(((event.clientX - area.left) / area.width) * model.steps.length));
  };
  slider.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    stopPlay();
    slider.focus({ focusVisible: false });
    slider.setPointerCapture(event.pointerId);
    scrub(event);
  });
  slider.addEventListener("pointermove", (event) => { if (slider.hasPointerCapture(event.pointerId)) scrub(event); });
}
