// The whole graph as it is shown, as an SVG file that stands alone.
"use strict";

const STYLED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity"];
const STYLED_TEXT = ["font-family", "font-size", "font-weight", "text-anchor", "paint-order"];

/** The picture as SVG text: everything, not only what is in sight, with each style written out. */
function svgText() {
  const kept = state.view;
  const margin = 24;
  const [width, height] = [Math.ceil(scene.width) + 2 * margin, Math.ceil(scene.height) + 2 * margin];
  clearDrawing();
  state.view = { x: 0, y: 0, k: 1 };
  try {
    wholeDrawn = true;
    sync();
    const copy = graph().cloneNode(true);
    writeStyles(graph(), copy);
    for (const name of [...copy.getAttributeNames()]) copy.removeAttribute(name);
    const background = getComputedStyle(document.body).backgroundColor;
    const frame = { xmlns: SVG, width, height, viewBox: `${-margin} ${-margin} ${width} ${height}` };
    for (const [name, value] of Object.entries(frame)) copy.setAttribute(name, value);
    copy.prepend(draw("title", {}, model.data.title ?? "Backward pass"), draw("rect", { x: -margin, y: -margin, width, height, fill: background }));
    return new XMLSerializer().serializeToString(copy);
  } finally {
    wholeDrawn = false;
    state.view = kept;
    clearDrawing();
    sync();
  }
}

/** Copies the styles that matter in a picture, and takes out what matters on a page only. */
function writeStyles(from, to) {
  const style = getComputedStyle(from);
  if (from.tagName !== "svg") {
    const text = from.tagName === "text" || from.tagName === "tspan";
    for (const name of text ? [...STYLED, ...STYLED_TEXT] : STYLED) to.style.setProperty(name, style.getPropertyValue(name));
    if (style.display === "none") to.style.display = "none";
  }
  for (const name of ["tabindex", "role", "aria-label", "aria-pressed", "aria-expanded", "data-key", "class", "id"]) to.removeAttribute(name);
  [...from.children].forEach((child, k) => writeStyles(child, to.children[k]));
}

function saveSvg() {
  const link = make("a", { href: URL.createObjectURL(new Blob([svgText()], { type: "image/svg+xml" })), download: "backward.svg" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  say("Picture saved as backward.svg");
}

/** Copies the address of what is shown. */
async function copyLink() {
  clearTimeout(writing);
  const address = location.href.replace(/#.*$/, "") + addressText();
  writeAddress();
  try {
    await navigator.clipboard.writeText(address);
  } catch {
    const box = make("textarea", { class: "unseen", "aria-hidden": "true" });
    box.value = address;
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  }
  say("Link copied");
}

let silence = null;

/** A short message at the bottom, which is also read aloud. */
function say(text) {
  byId("toast").textContent = text;
  byId("toast").classList.add("shown");
  clearTimeout(silence);
  silence = setTimeout(() => byId("toast").classList.remove("shown"), 2200);
}
