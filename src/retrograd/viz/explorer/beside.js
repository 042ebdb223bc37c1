// Another pass beside this one, if the document has one: what differs, in numbers, in pictures and in the list of nodes.
"use strict";

const beside = model.data.beside ?? null;

const changeText = (change) => (number(change) === 0 ? "equal" : Number.isFinite(number(change)) ? `≠ ${digits(Number((100 * number(change)).toPrecision(2)))} %` : "≠");

/** What is told of a box about the other pass: how much it differs, or that it is only here; null for no difference. */
function besideMark(item) {
  if (!beside) return null;
  if (item.members) return item.differing ? `${item.differing.toLocaleString("en")} ≠` : null;
  if (!item.other) return `only ${beside.names[0]}`;
  return number(item.change) === 0 ? null : changeText(item.change);
}

/** Whether a node differs from the other pass, or is only here. */
const isDifferent = (node) => node.other === null || number(node.change) !== 0;

/** Counts what differs in each group, and gives it the largest difference. */
function sumUpBeside() {
  for (const group of beside ? model.groups : []) {
    const nodes = group.members.map((id) => model.nodes.get(id));
    group.differing = nodes.filter(isDifferent).length;
    group.change = nodes.reduce((most, node) => Math.max(most, number(node.change) ?? 0), 0);
  }
}

/** A table of statistics of both passes; what differs is marked. */
function besideTable(node) {
  const [one, two] = [node.gradient, node.other.gradient];
  if (!one || !two) return make("p", { class: "muted" }, `No gradient arrives ${one ? `in ${beside.names[1]}` : `in ${beside.names[0]}`}.`);
  const row = (name, text = (stats) => digits(stats[name])) => {
    const values = [text(one), text(two)];
    return make("tr", { class: values[0] === values[1] ? null : "apart" }, make("th", { scope: "row" }, name), ...values.map((value) => make("td", {}, value)));
  };
  return make("table", { class: "both" }, make("thead", {}, make("tr", {}, make("td", {}), ...beside.names.map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, row("norm"), row("mean"), row("std"), row("min"), row("max"), row("zeros", zeros), row("NaN", ({ nans }) => digits(nans)), row("inf", ({ infs }) => digits(infs))));
}

/** The gradients of both passes, one beside the other. */
function besidePart(node) {
  if (!node.other) return section("Gradient that arrives", make("p", { class: "apart" }, `This node is only in ${beside.names[0]}.`), statsTable(node.gradient), pictureOf(node.picture));
  const told = number(node.change) === 0 ? "The gradients are equal." : Number.isFinite(number(node.change)) ? `The gradients differ by ${digits(Number((100 * number(node.change)).toPrecision(2)))} % of their norm.` : "The gradients differ.";
  const half = (name, picture) => make("div", {}, make("h4", {}, name), pictureOf(picture));
  return section("Gradient that arrives", make("p", { class: number(node.change) === 0 ? "muted" : "apart" }, told), besideTable(node),
    node.picture || node.other.picture ? make("div", { class: "halves" }, half(beside.names[0], node.picture), half(beside.names[1], node.other.picture)) : null);
}

/** What differs between the passes, in the order of the pass, and the nodes that only one of them has. */
function besideOverview() {
  if (!beside) return null;
  const differing = model.order.filter((node) => node.other && number(node.change) !== 0);
  const here = beside.here.map((id) => model.nodes.get(id));
  const value = (node) => make("span", { class: "value" }, [node.module, changeText(node.change)].filter(Boolean).join(" · "));
  const name = ({ label, name: kind, outputs }) => make("span", { class: "cut" }, make("b", {}, label || kind), ` ${shapeText(outputs?.[0]?.shape)}`);
  const same = !differing.length && !here.length && !beside.there.length;
  return section(`${beside.names[0]} beside ${beside.names[1]}`,
    make("p", { class: same ? "muted" : "apart" }, same ? "All gradients are equal." : `${counted(differing.length, "gradient")} of ${model.nodes.size.toLocaleString("en")} ${differing.length === 1 ? "differs" : "differ"}.`),
    differing.length ? [make("h4", {}, "In the order of the pass"), shortList(differing.map((node) => () => itemLink(node, value(node))))] : [],
    here.length ? [make("h4", {}, `Only in ${beside.names[0]}`), shortList(here.map((node) => () => itemLink(node, make("span", { class: "value" }, node.module))))] : [],
    beside.there.length ? [make("h4", {}, `Only in ${beside.names[1]}`), shortList(beside.there.map((node) => () => name(node)))] : []);
}

/** A page of two passes has one more color. */
function startBeside() {
  if (!beside) return;
  byId("changecolor").hidden = false;
  document.body.classList.add("two");
  sumUpBeside();
}
