// Numbers, bytes, times and shapes as text, and elements of the page.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

/** A number of the document: JSON has no sign for NaN and the infinities. */
function number(value) {
  const words = { nan: NaN, inf: Infinity, "-inf": -Infinity };
  return typeof value === "string" ? words[value] ?? NaN : value ?? null;
}

/** A number as text of few digits. */
function digits(value) {
  const x = number(value);
  if (x === null) return "–";
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (Number.isInteger(x) && size < 1e6) return x.toLocaleString("en");
  if (size >= 1e5 || size < 1e-3) return x.toExponential(2);
  return String(Number(x.toPrecision(4)));
}

function bytes(count) {
  if (count === null || count === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB"];
  let k = 0;
  let x = count;
  while (x >= 1024 && k < 3) { x /= 1024; k += 1; }
  return `${k ? Number(x.toPrecision(3)) : x} ${units[k]}`;
}

function seconds(time) {
  if (time === null || time === undefined) return "–";
  if (time < 1e-3) return `${Number((time * 1e6).toPrecision(3))} µs`;
  if (time < 1) return `${Number((time * 1e3).toPrecision(3))} ms`;
  return `${Number(time.toPrecision(3))} s`;
}

const shapeText = (shape) => (shape ? `[${shape.join(", ")}]` : "");
const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** An HTML element. An attribute that is a function becomes a listener; null and false are left out. */
function make(name, attributes = {}, ...children) {
  return furnished(document.createElement(name), attributes, children);
}

/** The same for SVG. */
function draw(name, attributes = {}, ...children) {
  return furnished(document.createElementNS(SVG, name), attributes, children);
}

function furnished(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const byId = (id) => document.getElementById(id);

/** The width of a text on the page, in pixels. */
const textWidth = (() => {
  const pen = document.createElement("canvas").getContext("2d");
  const known = new Map();
  return (text, font) => {
    const key = `${font}|${text}`;
    if (!known.has(key)) {
      pen.font = font;
      known.set(key, pen.measureText(text).width);
    }
    return known.get(key);
  };
})();

/** A text cut to a width, with an ellipsis. */
function fitted(text, font, width) {
  if (textWidth(text, font) <= width) return text;
  let length = Math.max(1, Math.floor((text.length * width) / textWidth(text, font)));
  while (length > 1 && textWidth(`${text.slice(0, length)}…`, font) > width) length -= 1;
  return `${text.slice(0, length)}…`;
}
