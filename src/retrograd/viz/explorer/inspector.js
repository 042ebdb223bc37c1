// The inspector: everything about the node or the group that is chosen.
"use strict";

function paintInspector() {
  const item = chosenItem();
  const parts = item === null ? overviewParts() : item.members ? groupParts(item) : nodeParts(item);
  const focused = byId("about").contains(document.activeElement);
  byId("about").replaceChildren(...parts.filter(Boolean));
  if (focused) byId("inspector").focus({ preventScroll: true });
  byId("inspector").scrollTop = 0;
  byId("sheettitle").textContent = item ? item.label || (item.members ? groupTitle(item) : item.name) : "Overview";
}

const MOST_WIRES = 10;

/** A section with a heading; nothing if it has no content. */
function section(title, ...content) {
  const kept = content.flat().filter(Boolean);
  return kept.length ? make("section", {}, make("h3", {}, title), ...kept) : null;
}

/** Rows of a name and a value. */
function facts(rows) {
  const kept = rows.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== "–");
  return kept.length ? make("dl", { class: "facts" }, ...kept.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])) : null;
}

/** A button with the name of a node or group that chooses it. */
function itemLink(item, ...more) {
  const title = item.members ? groupTitle(item) : item.label || item.name;
  return make("button", { type: "button", class: "item", click: () => choose(item) }, glyphOf(item),
    make("span", { class: "title" }, title), ...more);
}

function glyphOf(item) {
  const fill = itemColor(item, state.color);
  return draw("svg", { class: `glyph${item.problem ? " wrong" : ""}`, viewBox: "-2 -2 28 20", width: 26, height: 18, "aria-hidden": "true" },
    draw("path", { d: outline(kindOf(item), 24, 16), style: `fill: ${fill}` }));
}

function nodeParts(node) {
  return [
    headPart(node, node.label || node.name, node.label && node.label !== node.name ? node.name : null),
    problemPart(node),
    beside ? besidePart(node) : section("Gradient that arrives", statsTable(node.gradient), pictureOf(node.picture)),
    node.notes?.length ? section("Notes", make("ul", { class: "notes" }, ...node.notes.map((note) => make("li", {}, note)))) : null,
    sourcePart(node.site),
    ...wirePart(node),
    rulePart(node),
    node.value ? section("Value", statsTable(node.value.stats), pictureOf(node.value.picture)) : null,
    ...savedPart(node),
    section("Cost", facts([["Time", seconds(node.time)], ["Saved values", node.bytes ? bytes(node.bytes) : null], ["Freed after the step", freedText(node)]])),
  ];
}

const outputText = (output) => [shapeText(output.shape), output.dtype].filter(Boolean).join(" ");

function headPart(item, title, subtitle) {
  const outputs = (item.outputs ?? []).map(outputText);
  return make("header", { class: "head" },
    make("h2", {}, glyphOf(item), make("span", {}, title)),
    subtitle ? make("p", { class: "code" }, subtitle) : null,
    make("p", { class: "muted" }, [kindText[kindOf(item)], item.parameter ? "parameter" : null, whereText(item)].filter(Boolean).join(" · ")),
    make("p", { class: "muted" }, [...outputs, item.position === null ? null : `step ${item.position + 1} of ${model.steps.length}`].filter(Boolean).join(" · ")));
}

function problemPart(node) {
  const maker = firstMaker();
  if (maker === node) return make("div", { class: "alarm" }, make("p", {}, "The rule of this node makes the first NaN or infinity of the pass."));
  if (!node.problem) return null;
  if (node.problem === "none") return make("div", { class: "alarm" }, make("p", {}, "This leaf gets no gradient: the loss does not depend on it."));
  const word = node.problem === "nan" ? "NaN" : "infinity";
  const arrives = node.gradient && (node.gradient.nans || node.gradient.infs);
  const text = arrives ? `The gradient that arrives here contains ${word}.` : `A value that this node saved contains ${word}.`;
  return make("div", { class: "alarm" }, make("p", {}, text), maker ? make("p", {}, "The first of the pass is made by ") : null, maker ? itemLink(maker) : null);
}

/** The node whose rule makes the first NaN or infinity of the pass out of finite numbers. */
function firstMaker() {
  const told = model.nodes.get(model.data.totals?.first_bad?.backward);
  if (told) return told;
  const wrong = (arrival) => !Number.isFinite(number(arrival.norm));
  const step = model.steps.find(({ arrivals = [] }) => arrivals.some(wrong));
  return step ? model.nodes.get(step.node) ?? null : null;
}

/** The line of the program with its source text. */
function sourcePart(site) {
  if (!site) return null;
  const lines = model.data.sources?.[site.file] ?? {};
  const near = [-2, -1, 0, 1, 2].map((k) => site.line + k).filter((line) => lines[line]?.trim());
  const margin = Math.min(...near.map((line) => lines[line].search(/\S/)));
  const width = String(near.at(-1) ?? "").length;
  const row = (line) => make("span", { class: line === site.line ? "line here" : "line" }, make("i", {}, String(line).padStart(width)), ` ${lines[line].slice(margin)}\n`);
  return section("Line of the program",
    make("p", { class: "muted code", title: `${site.file}:${site.line}` }, siteText(site), site.function ? ` in ${site.function}` : null),
    near.length ? make("pre", { tabindex: 0 }, make("code", {}, ...near.map(row))) : null);
}

/** Where gradients go to and come from. */
function wirePart(node) {
  const sent = (node.position === null ? [] : model.steps[node.position].arrivals ?? []).filter((arrival) => model.nodes.has(arrival.to));
  const quiet = sent.length ? [] : targets(node);
  const plus = () => make("abbr", { title: "adds to what arrived before" }, "+");
  const row = (id, arrival) => () => itemLink(model.nodes.get(id), arrival ? make("span", { class: "value" }, arrival.adds ? plus() : null, arrivalValue(arrival)) : null);
  const users = [...new Set(node.users)];
  return [
    section("Sends gradients to", shortList([...sent.map((arrival) => row(arrival.to, arrival)), ...quiet.map((id) => row(id))], MOST_WIRES)),
    section("Receives gradients from", shortList(node.received.length ? node.received.map((arrival) => row(arrival.from, arrival)) : users.map((id) => row(id)), MOST_WIRES)),
  ];
}

/** A gradient on its wire: its numbers if there are two at most, else a small heat map and the norm. */
function arrivalValue(arrival) {
  const picture = pictureThere(arrival);
  if (picture?.kind === "numbers" && picture.values.length <= 2) return picture.values.map(shortText).join("\u2002");
  const canvas = picture?.kind === "image" ? heatCanvas(picture, { class: "inline", "aria-hidden": "true" }) : null;
  return make("span", {}, canvas, digits(arrival.norm));
}

function rulePart(node) {
  const rule = node.rule === null || node.rule === undefined ? null : model.data.rules?.[node.rule];
  return rule && section("Rule that ran", make("p", { class: "muted code" }, rule.at), make("pre", { tabindex: 0 }, make("code", {}, rule.text)));
}

function freedText(node) {
  const freed = node.position === null ? 0 : model.steps[node.position].frees ?? 0;
  return freed ? bytes(freed) : null;
}

/** Saved values: arrays open to statistics and a picture, others show what they are. */
function savedPart(node) {
  const saved = node.saved ?? [];
  const arrays = saved.filter((value) => value.shape);
  const others = saved.filter((value) => !value.shape);
  const card = (value) => make("details", { class: "saved", open: arrays.length === 1 },
    make("summary", {}, make("span", { class: "code" }, value.name), make("span", { class: "muted" }, `${shapeText(value.shape)} ${value.dtype}`), make("span", { class: "value" }, bytes(value.bytes))),
    facts([["Version", value.version || null]]), statsTable(value.stats), pictureOf(value.picture));
  return [section("Saved values", ...arrays.map(card), facts(others.map((value) => [value.name, make("code", {}, String(value.value))])))];
}

function groupParts(group) {
  const norms = group.norms.filter((x) => Number.isFinite(x));
  const spread = norms.length ? `${digits(norms.reduce((a, b) => Math.min(a, b)))} … ${digits(norms.reduce((a, b) => Math.max(a, b)))}` : null;
  const open = state.open.has(group.index);
  const like = group.alike === null || group.alike === undefined ? null : model.groups[group.alike];
  const children = group.children.map((child) => (child.node === undefined ? model.groups[child.group] : model.nodes.get(child.node)));
  return [
    make("header", { class: "head" }, make("h2", {}, glyphOf(group), make("span", {}, groupTitle(group))),
      make("p", { class: "muted" }, [group.class, counted(group.members.length, "node")].filter(Boolean).join(" · ")),
      group.index === 0 ? null : make("button", { type: "button", class: "wide", click: () => toggleGroup(group) }, open ? "Fold" : "Unfold")),
    section("In all", facts([["Gradient norms", spread], ["Time", seconds(group.time)], ["Saved values", bytes(group.bytes)], ["Equal to", like && itemLink(like)]])),
    section("Holds", rankedList(children, (item) => MEASURES[state.color].of(item), MEASURES[state.color].text, 12, state.color === "norm")),
  ];
}
