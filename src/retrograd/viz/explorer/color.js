// What colors mean: a palette for sizes and one for signed numbers, both safe for the color-blind; scales; the legend.
"use strict";

const PALETTE = ["#f7fbd5", "#cdebb4", "#84cdbb", "#45acc4", "#2274b3", "#1e3f85", "#0d1f52"];
// From negative numbers over 0, in the middle, to positive numbers.
const SIGNED = {
  light: ["#173a7a", "#4c82c3", "#b4d0e9", "#f7f7f5", "#f6c9a0", "#d97f33", "#8a3c05"],
  dark: ["#a8cdf7", "#5b95d8", "#2c4f7c", "#1d2126", "#7a4a1d", "#d98b43", "#ffd3a3"],
};
const ZERO = { light: "#d3d7dc", dark: "#4b525b" };
const NEUTRAL = { light: "#ffffff", dark: "#202329" };
const BITS = { bool: 1, uint8: 8, int8: 8, int16: 16, float16: 16, bfloat16: 16.5, int32: 32, float32: 32.5, int64: 64, float64: 64.5, complex64: 65, complex128: 128 };
const MEASURES = {
  norm: { title: "Norm of the gradient", of: (item) => item.norm, text: digits },
  time: { title: "Time taken", of: (item) => item.time, text: seconds },
  bytes: { title: "Memory of saved values", of: (item) => item.bytes || null, text: bytes },
  change: { title: "Difference of the two gradients", of: (item) => number(item.change ?? null), text: digits },
  dtype: { title: "Dtype of the result", of: (item) => item.outputs?.[0]?.dtype ?? null, text: String },
};
const dark = matchMedia("(prefers-color-scheme: dark)");

const ZERO_LEVEL = -1;
const SAME_LEVEL = 0.4;             // of the one value that all items have
const ZEROS = ["norm", "change"];

/** What maps a measure to places in the palette, 0 to 1: logarithmic for numbers, one step each for dtypes. 0 is apart where it means something. */
const scaleOf = (() => {
  const known = new Map();
  return (color) => {
    if (!known.has(color)) known.set(color, color === "dtype" ? dtypeScale() : numberScale(color));
    return known.get(color);
  };
})();

function dtypeScale() {
  const names = [...new Set(model.order.map(MEASURES.dtype.of).filter((name) => name !== null))];
  names.sort((a, b) => (BITS[a] ?? 60) - (BITS[b] ?? 60));
  const at = (name) => (names.includes(name) ? (names.indexOf(name) + 1) / (names.length + 1) : null);
  return { names, at };
}

function numberScale(color) {
  const values = model.order.map(MEASURES[color].of).filter((x) => Number.isFinite(x) && x > 0);
  const has0 = ZEROS.includes(color);
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const span = Math.log(high) - Math.log(low);
  const at = (x) => {
    if (x === null || x === undefined || Number.isNaN(x)) return null;
    if (x <= 0) return has0 ? ZERO_LEVEL : 0;
    if (span < 1e-9) return SAME_LEVEL;
    return Math.min(1, Math.max(0, (Math.log(x) - Math.log(low)) / span));
  };
  const zero = has0 && model.order.some((item) => MEASURES[color].of(item) === 0);
  return { low, high, at, zero, none: !values.length, same: span < 1e-9 };
}

/** Where an item stands in the palette, or null. */
function level(item, color) {
  return scaleOf(color).at(MEASURES[color].of(item));
}

/** The color of a place in the palette. Low values are near the background, in the light and in the dark. */
function paletteColor(t) {
  return t === ZERO_LEVEL ? ZERO[dark.matches ? "dark" : "light"] : between(PALETTE, dark.matches ? 0.88 - 0.84 * t : 0.04 + 0.88 * t);
}

/** The color of a signed number, from -1 to 1. 0 is nearly the background. */
const signedColor = (t) => between(SIGNED[dark.matches ? "dark" : "light"], (Math.min(1, Math.max(-1, t)) + 1) / 2);

/** The color at a place between the first color of a palette, 0, and the last, 1. */
function between(palette, t) {
  const place = t * (palette.length - 1);
  const k = Math.min(palette.length - 2, Math.floor(place));
  const [a, b] = [channels(palette[k]), channels(palette[k + 1])];
  return `rgb(${a.map((x, i) => Math.round(x + (b[i] - x) * (place - k))).join(" ")})`;
}

const channels = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

function itemColor(item, color) {
  const t = level(item, color);
  return t === null ? NEUTRAL[dark.matches ? "dark" : "light"] : paletteColor(t);
}

/** Black or white, whichever is easier to read on a color. */
function inkOn(color) {
  const parts = color.startsWith("#") ? channels(color) : color.match(/\d+/g).map(Number);
  const [r, g, b] = parts.map((x) => (x <= 10 ? x / 3295 : ((x / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

/** The legend: what the colors and the shapes mean. */
function paintLegend() {
  const measure = MEASURES[state.color];
  const scale = scaleOf(state.color);
  const stops = Array.from({ length: 9 }, (_, k) => paletteColor(k / 8)).join(", ");
  const bar = make("div", { class: "ramp", style: `background: linear-gradient(to right, ${stops})` });
  const names = () => scale.names.map((name) => key(scale.at(name), name));
  const key = (place, text) => make("span", { class: "key" }, make("i", { style: `background: ${paletteColor(place)}` }), text);
  const zero = scale.zero ? [key(ZERO_LEVEL, "0")] : [];
  const ends = () => [...zero, ...(scale.same ? [key(SAME_LEVEL, measure.text(scale.low))] : [make("span", {}, measure.text(scale.low)), bar, make("span", {}, measure.text(scale.high))])];
  const nothing = make("span", { class: "muted" }, "nothing measured");
  byId("scale").replaceChildren(make("p", {}, measure.title), ...(scale.names ? [make("div", { class: "keys" }, ...names())] : scale.none ? [nothing] : ends()));
}

function paintShapes() {
  const kinds = [["operator", "operator"], ["leaf", "leaf"], ["view", "view"], ["write", "write in place"], ["function", "own Function"], ["group", "folded group"]];
  const glyph = (kind) => draw("svg", { viewBox: "-2 -2 34 22", width: 30, height: 20, "aria-hidden": "true", class: "glyph" },
    draw("path", { d: outline(kind, 30, 18) }));
  byId("shapes").replaceChildren(...kinds.map(([kind, text]) => make("span", { class: "key" }, glyph(kind), text)),
    make("span", { class: "key wrong" }, make("b", {}, "NaN"), "red: NaN, inf, no gradient"));
}
