// The chart of the norms along the pass. Its scale is logarithmic, and zeros lie below it, on a floor of their own.
"use strict";

const CHART = { top: 2, low: 38, raised: 28, floor: 38, columns: 90 };

/** The norms in at most so many columns: the place of each column, and its values in order. */
function columnsOf(values) {
  const wide = Math.max(1, values.length / CHART.columns);
  const columns = new Map();
  values.forEach((value, k) => {
    if (!Number.isFinite(value) || value < 0) return;
    const column = Math.floor(k / wide);
    if (!columns.has(column)) columns.set(column, []);
    columns.get(column).push(value);
  });
  return [...columns].map(([column, all]) => [column, (column + 0.5) * wide - 0.5, all.sort((a, b) => a - b)]);
}

/** How high a norm stands: on the floor for 0, and above the floor on a logarithmic scale. */
function chartScale(low, high, zero) {
  const span = Math.log(high / low);
  const bottom = zero ? CHART.raised : CHART.low;
  const height = bottom - CHART.top;
  return (value) => round(value === 0 ? CHART.floor : span ? bottom - (height * Math.log(value / low)) / span : CHART.top + height / 2);
}

/** Lines through the columns; a column without a value ends a line. */
function chartLines(columns, x, y) {
  const rows = [];
  let last = null;
  for (const [column, at, all] of columns) {
    if (last === null || column > last + 1) rows.push([]);
    rows.at(-1).push([x(at), y(all.at(-1)), y(all[0]), y(all[all.length >> 1])]);
    last = column;
  }
  const edge = (row, place) => row.map((column) => `${column[0]} ${column[place]}`);
  return {
    band: rows.map((row) => `M${[...edge(row, 1), ...edge(row, 2).reverse()].join("L")}Z`).join(""),
    line: rows.map((row) => `M${edge(row, 3).join("L")}`).join(""),
  };
}

/**
 * The norms along the pass as a chart; null stands for a step without a gradient. A click goes to the step. `others`
 * are the norms of another pass, which are dashed.
 */
function passChart(values, go, others) {
  const all = [...values, ...others ?? []];
  const finite = all.filter((x) => Number.isFinite(x) && x > 0);
  if (finite.length + all.filter((x) => x === 0).length < 2 || !finite.length) return null;
  const [low, high] = [finite.reduce((a, b) => Math.min(a, b)), finite.reduce((a, b) => Math.max(a, b))];
  const zero = all.includes(0);
  const x = (k) => round((100 * (k + 0.5)) / values.length);
  const scale = chartScale(low, high, zero);
  const { band, line } = chartLines(columnsOf(values), x, scale);
  const dashed = others ? chartLines(columnsOf(others), x, scale).line : "";
  const wrong = values.map((value, k) => (value !== null && !Number.isFinite(value) ? `M${x(k)} 0V40` : "")).join("");
  const text = `Gradient norms along the pass, from ${digits(low)} to ${digits(high)}${zero ? ", and zeros" : ""}`;
  const chart = draw("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img", "aria-label": text },
    zero ? draw("path", { class: "zero", d: `M0 ${CHART.floor}H100` }) : null,
    draw("path", { class: "band", d: band }), draw("path", { class: "norms", d: line }), draw("path", { class: "others", d: dashed }), draw("path", { class: "wrongline", d: wrong }));
  chart.addEventListener("click", (event) => {
    const area = chart.getBoundingClientRect();
    go(Math.min(values.length - 1, Math.floor(((event.clientX - area.left) / area.width) * values.length)));
  });
  const axis = make("div", { class: zero ? "axis zeros" : "axis", "aria-hidden": "true" }, make("span", {}, digits(high)), make("span", {}, low < high ? digits(low) : ""), zero ? make("span", {}, "0") : null);
  return make("figure", { class: "picture chart" }, axis, chart,
    make("figcaption", {}, make("span", {}, "loss"), make("span", {}, "steps of the pass"), make("span", {}, "end")));
}
