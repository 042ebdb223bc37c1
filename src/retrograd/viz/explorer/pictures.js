// Small pictures of arrays: their numbers if they are few, else heat maps and histograms; and their statistics.
"use strict";

const PICTURE = { width: 288, height: 220, pixel: 10, least: 12, caption: 220 };
const THUMB = { width: 72, height: 18, pixel: 5, least: 8 };
const BESIDE = 4;
const LEVELS = { bad: 0, zero: 128, span: 127 };

const isSigned = (picture) => number(picture.lo) < 0 && number(picture.hi) > 0;

/** The colors of the levels of an image, as red, green and blue: 0 is for what is not finite. */
function levelColors(picture) {
  const rgb = (color) => color.match(/\d+/g).map(Number);
  const bad = channels(getComputedStyle(document.documentElement).getPropertyValue("--wrong").trim());
  const same = number(picture.lo) === number(picture.hi) ? (number(picture.lo) === 0 ? signedColor(0) : paletteColor(0.5)) : null;
  const color = same ? () => same : isSigned(picture) ? (k) => signedColor((k - LEVELS.zero) / LEVELS.span) : (k) => paletteColor((k - 1) / 254);
  return Array.from({ length: 256 }, (_, k) => (k === LEVELS.bad ? bad : rgb(color(k))));
}

/** A canvas on which each pixel is one number of an image. */
function heatCanvas(picture, attributes = {}) {
  const { width, height, values } = picture;
  const canvas = make("canvas", { width, height, ...attributes });
  const raw = atob(values);
  const pen = canvas.getContext("2d");
  const pixels = pen.createImageData(width, height);
  const colors = levelColors(picture);
  for (let k = 0; k < width * height; k += 1) pixels.data.set([...colors[raw.charCodeAt(k)], 255], 4 * k);
  pen.putImageData(pixels, 0, 0);
  return canvas;
}

function pictureOf(picture) {
  if (!picture) return null;
  if (picture.kind === "numbers") return numbersTable(picture);
  return picture.histogram ? make("div", {}, imagePicture(picture), histogramPicture(picture.histogram)) : imagePicture(picture);
}

/** The numbers of a small array. The last dimension runs from left to right, all others from top to bottom. */
function numbersTable({ shape, values }) {
  const wide = shape.at(-1) ?? 1;
  const most = values.reduce((a, value) => (Number.isFinite(number(value)) ? Math.max(a, Math.abs(number(value))) : a), 0);
  const cell = (value) => {
    const plain = typeof value === "boolean" || number(value) === null ? null : number(value);
    const color = most && Number.isFinite(plain) ? signedColor(plain / most) : null;
    const wrong = typeof value === "string" && ["nan", "inf", "-inf"].includes(value);
    return make("td", { class: wrong ? "wrong" : null, style: color && `background: ${color}; color: ${inkOn(color)}`, title: String(value) }, shortText(value));
  };
  const rows = Array.from({ length: values.length / wide }, (_, r) => make("tr", {}, ...values.slice(r * wide, (r + 1) * wide).map(cell)));
  return make("div", { class: "numbers", tabindex: wide > BESIDE ? 0 : null, role: wide > BESIDE ? "group" : null, "aria-label": wide > BESIDE ? "Numbers" : null }, make("table", {}, make("tbody", {}, ...rows)));
}

/** A number of a small array in few letters. */
function shortText(value) {
  if (typeof value === "boolean") return value ? "true" : "false";
  if (typeof value === "string" && value.endsWith("j")) return value.replace(/[\d.]+(e[+-]\d+)?/g, (part) => shortText(Number(part)));
  if (typeof value === "string" && !["nan", "inf", "-inf"].includes(value)) return value;
  const x = number(value);
  const size = Math.abs(x);
  if (!Number.isFinite(x) || (Number.isInteger(x) && size < 1e5)) return digits(value);
  return size >= 1e5 || size < 1e-3 ? x.toExponential(1) : String(Number(x.toPrecision(3)));
}

/** The numbers of a small array as lines of text: its rows, or four a line if the rows are many or long, or fewer that fit a box. */
function numberLines({ shape, values }) {
  const wide = (shape.at(-1) ?? 1) <= BESIDE && values.length / (shape.at(-1) || 1) <= BESIDE ? shape.at(-1) ?? 1 : BESIDE;
  const lines = (count) => Array.from({ length: Math.ceil(values.length / count) }, (_, r) => values.slice(r * count, (r + 1) * count).map(shortText).join("\u2002"));
  for (let count = wide; count > 1; count = Math.ceil(count / 2)) {
    const rows = lines(count);
    if (rows.every((row) => textWidth(row, FONTS.small) <= BOX.widest - BOX.margin)) return rows;
  }
  return lines(1);
}

/** What a box or a mark of the graph shows of an array besides its norm: lines of numbers, or a heat map of a size. */
function miniature(picture, norm) {
  if (!picture || (picture.values.length === 1 && number(picture.values[0]) === norm)) return { lines: [], width: 0, height: 0 };
  if (picture.kind === "numbers") {
    const lines = numberLines(picture);
    return { lines, width: Math.max(...lines.map((line) => textWidth(line, FONTS.small))), height: 13 * lines.length };
  }
  const fit = (count, most) => Math.max(THUMB.least, Math.min(most, count * THUMB.pixel));
  return { lines: [], picture, width: fit(picture.width, THUMB.width), height: fit(picture.height, THUMB.height) };
}

/** A heat map as an element of a drawing. */
function thumb(picture, x, y, width, height) {
  const theme = dark.matches ? "dark" : "light";
  picture.urls ??= {};
  picture.urls[theme] ??= heatCanvas(picture).toDataURL();
  return draw("image", { class: "thumb", href: picture.urls[theme], x: round(x), y: round(y), width: round(width), height: round(height), preserveAspectRatio: "none" });
}

function histogramPicture({ edges, counts }) {
  const most = Math.max(1, ...counts);
  const wide = 100 / counts.length;
  const bars = counts.map((count, k) => (count ? draw("rect", {
    x: round(k * wide + 0.3), width: round(wide - 0.6), height: Math.max(0.8, (40 * count) / most), y: 40 - Math.max(0.8, (40 * count) / most),
  }) : null));
  const [low, high] = edges.map(digits);
  const zero = edges[0] < 0 && edges[1] > 0 ? draw("path", { class: "zero", d: `M${round((100 * -edges[0]) / (edges[1] - edges[0]))} 0V40` }) : null;
  const text = `Histogram from ${low} to ${high}; the fullest of ${counts.length} bins holds ${most}`;
  return make("figure", { class: "picture" },
    draw("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img", "aria-label": text }, ...bars, zero),
    make("figcaption", {}, make("span", {}, low), make("span", {}, high)));
}

function imagePicture(picture) {
  const { width, height, lo, hi } = picture;
  const canvas = heatCanvas(picture, { role: "img", "aria-label": `Heat map of ${height} by ${width} values from ${digits(lo)} to ${digits(hi)}` });
  const wide = Math.min(PICTURE.width, width * PICTURE.pixel, (PICTURE.height * width) / height);
  Object.assign(canvas.style, { width: `${Math.max(PICTURE.least, wide)}px`, height: `${Math.max(PICTURE.least, (wide * height) / width)}px` });
  const figure = (...caption) => make("figure", { class: "picture image", style: `max-width: ${Math.max(PICTURE.caption, wide)}px` }, canvas, make("figcaption", {}, ...caption));
  if (number(lo) === number(hi)) return figure(`all ${digits(lo)}`);
  const signed = isSigned(picture);
  const ramp = Array.from({ length: 9 }, (_, k) => (signed ? signedColor(k / 4 - 1) : paletteColor(k / 8))).join(", ");
  return figure(make("span", {}, digits(lo)), make("i", { class: "ramp", style: `background: linear-gradient(to right, ${ramp})` }, signed ? make("b", {}, "0") : null), make("span", {}, digits(hi)));
}

/** Statistics of an array as a table, two to a row. What is wrong is red. */
function statsTable(stats) {
  if (!stats) return null;
  const cell = (name, value, wrong) => [make("dt", {}, name), make("dd", { class: wrong ? "wrong" : null }, value)];
  const wrong = (value) => typeof value === "string" && value !== "";
  const row = (name) => cell(name, digits(stats[name]), wrong(stats[name]));
  const rows = [row("norm"), row("mean"), row("std"), cell("zeros", zeros(stats)), row("min"), row("max")];
  rows.push(cell("NaN", digits(stats.nans), stats.nans > 0), cell("inf", digits(stats.infs), stats.infs > 0));
  const table = make("dl", { class: "stats" }, ...rows.flat());
  return stats.parts ? make("div", {}, table, make("p", { class: "muted" }, partsText(stats))) : table;
}

/** What the statistics of complex numbers are about. */
const partsText = ({ parts: [real, imaginary] }) => `These are complex numbers: the statistics and the colors are of their absolute values. Their mean is ${real === null ? "–" : `${digits(real)} ${number(imaginary) < 0 ? "−" : "+"} ${digits(Math.abs(number(imaginary)))}j`}.`;

function zeros({ zeros: count, size }) {
  if (!count || !size) return digits(count);
  if (count === size) return "all";
  const share = (100 * count) / size;
  return `${share < 1 ? "<1" : Math.min(99, Math.round(share))} %`;
}
