// Small pictures of arrays: histograms and images, with their statistics.
"use strict";

const PICTURE = { width: 288, height: 220, pixel: 10, least: 12, caption: 220 };

function pictureOf(picture) {
  if (!picture) return null;
  return picture.kind === "image" ? imagePicture(picture) : histogramPicture(picture);
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

function imagePicture({ width, height, values, lo, hi }) {
  const canvas = make("canvas", { width, height, role: "img", "aria-label": `Image of ${height} by ${width} values from ${digits(lo)} to ${digits(hi)}` });
  const raw = atob(values);
  const pen = canvas.getContext("2d");
  const pixels = pen.createImageData(width, height);
  const colors = Array.from({ length: 256 }, (_, k) => paletteColor(k / 255).match(/\d+/g).map(Number));
  for (let k = 0; k < width * height; k += 1) pixels.data.set([...colors[raw.charCodeAt(k)], 255], 4 * k);
  pen.putImageData(pixels, 0, 0);
  const wide = Math.min(PICTURE.width, width * PICTURE.pixel, (PICTURE.height * width) / height);
  Object.assign(canvas.style, { width: `${Math.max(PICTURE.least, wide)}px`, height: `${Math.max(PICTURE.least, (wide * height) / width)}px` });
  const ramp = Array.from({ length: 9 }, (_, k) => paletteColor(k / 8)).join(", ");
  return make("figure", { class: "picture image", style: `max-width: ${Math.max(PICTURE.caption, wide)}px` }, canvas,
    make("figcaption", {}, make("span", {}, digits(lo)), make("i", { class: "ramp", style: `background: linear-gradient(to right, ${ramp})` }), make("span", {}, digits(hi))));
}

/** Statistics of an array as a table, two to a row. What is wrong is red. */
function statsTable(stats) {
  if (!stats) return null;
  const cell = (name, value, wrong) => [make("dt", {}, name), make("dd", { class: wrong ? "wrong" : null }, value)];
  const wrong = (value) => typeof value === "string" && value !== "";
  const row = (name) => cell(name, digits(stats[name]), wrong(stats[name]));
  const rows = [row("norm"), row("mean"), row("std"), cell("zeros", zeros(stats)), row("min"), row("max")];
  rows.push(cell("NaN", digits(stats.nans), stats.nans > 0), cell("inf", digits(stats.infs), stats.infs > 0));
  return make("dl", { class: "stats" }, ...rows.flat());
}

function zeros({ zeros: count, size }) {
  if (!count || !size) return digits(count);
  const share = (100 * count) / size;
  return `${share < 1 ? "<1" : Math.round(share)} %`;
}

/** Positive values in at most 90 columns: the place of each column, and its values. */
function columnsOf(values) {
  const wide = Math.max(1, values.length / 90);
  const columns = new Map();
  values.forEach((value, k) => {
    if (!Number.isFinite(value) || value <= 0) return;
    const column = Math.floor(k / wide);
    columns.set(column, [...(columns.get(column) ?? []), value]);
  });
  return [...columns].map(([column, all]) => [(column + 0.5) * wide - 0.5, all]);
}

/** The norms along the pass as a chart on a logarithmic scale; a click goes to the step. */
function passChart(values, go) {
  const finite = values.filter((x) => Number.isFinite(x) && x > 0);
  if (finite.length < 2) return null;
  const [low, high] = [finite.reduce((a, b) => Math.min(a, b)), finite.reduce((a, b) => Math.max(a, b))];
  const span = Math.log(high / low) || 1;
  const x = (k) => round((100 * (k + 0.5)) / values.length);
  const y = (value) => round(38 - (36 * Math.log(value / low)) / span);
  const columns = columnsOf(values).map(([at, all]) => [x(at), y(Math.max(...all)), y(Math.min(...all)), y(Math.exp(all.reduce((sum, value) => sum + Math.log(value), 0) / all.length))]);
  const band = `M${[...columns.map(([at, top]) => `${at} ${top}`), ...columns.map(([at, , bottom]) => `${at} ${bottom}`).reverse()].join("L")}Z`;
  const line = `M${columns.map(([at, , , middle]) => `${at} ${middle}`).join("L")}`;
  const wrong = values.map((value, k) => (value !== null && !Number.isFinite(value) ? `M${x(k)} 0V40` : "")).join("");
  const chart = draw("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img", "aria-label": `Gradient norms along the pass, from ${digits(low)} to ${digits(high)}` },
    draw("path", { class: "band", d: band }), draw("path", { d: line }), draw("path", { class: "wrongline", d: wrong }));
  chart.addEventListener("click", (event) => {
    const area = chart.getBoundingClientRect();
    go(Math.min(values.length - 1, Math.floor(((event.clientX - area.left) / area.width) * values.length)));
  });
  return make("figure", { class: "picture chart" }, make("div", { class: "axis", "aria-hidden": "true" }, make("span", {}, digits(high)), make("span", {}, digits(low))), chart,
    make("figcaption", {}, make("span", {}, "loss"), make("span", {}, "steps of the pass"), make("span", {}, "end")));
}
