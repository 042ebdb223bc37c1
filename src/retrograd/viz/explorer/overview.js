// What one sees at a glance when nothing is chosen: what is wrong, norms, memory, time, views and writes, cuts.
"use strict";

const SHORT = 6;

function overviewParts() {
  const { data } = model;
  const totals = data.totals ?? {};
  return [
    make("header", { class: "head" }, make("h2", {}, data.title || "Backward pass"), data.program ? make("p", { class: "muted code", title: data.program }, fileName(data.program)) : null,
      make("dl", { class: "totals" }, ...[
        [counted(model.nodes.size, "node"), counted(model.steps.length, "step")], [bytes(totals.bytes), "saved"],
        [seconds(totals.time), "in the pass"], [digits(totals.parameters), totals.parameters === 1 ? "leaf" : "leaves"],
      ].flatMap(([value, name]) => [make("div", {}, make("dd", {}, value), make("dt", {}, name))]))),
    besideOverview(), alarmPart(), normPart(), costPart("What holds the memory", "bytes"), costPart("What takes the time", "time"),
    viewPart(), cutPart(),
  ];
}

function alarmPart() {
  const maker = firstMaker();
  const forward = model.nodes.get(model.data.totals?.first_bad?.forward);
  const without = model.order.filter((node) => node.problem === "none");
  const wrong = model.order.filter((node) => node.problem === "nan" || node.problem === "inf");
  const count = wrong.length;
  const zero = model.order.filter((node) => node.kind === "leaf" && node.norm === 0);
  const vanished = vanishedPart();
  if (!maker && !forward && !count && !without.length && !zero.length && !vanished) return make("p", { class: "fine" }, "No NaN, no infinity, and every leaf gets a gradient that is not 0.");
  const told = (text, node) => (node ? [make("p", {}, text), itemLink(node, node.site ? make("span", { class: "value" }, siteText(node.site)) : null)] : []);
  const saved = maker || forward ? null : shortList(wrong.map((node) => () => itemLink(node)));      // nobody saw who made it
  const bad = maker || forward || count ? make("div", { class: "alarm" }, make("p", {}, `NaN or infinity in ${counted(count, "node")}${saved ? ":" : "."}`), saved,
    ...told("The first of the pass is made by the rule of", maker), ...told("The first of the forward computation is made by", forward)) : null;
  const lost = without.length ? make("div", { class: "alarm" }, make("p", {}, `${leavesText(without.length)} without gradient:`), shortList(without.map((node) => itemLink(node)))) : null;
  const still = zero.length ? make("div", { class: "alarm" }, make("p", {}, `${leavesText(zero.length)} with a gradient of zeros:`), shortList(zero.map((node) => itemLink(node)))) : null;
  return make("section", {}, make("h3", {}, "What is wrong"), ...[bad, lost, vanished, still].filter(Boolean));
}

const leavesText = (count) => counted(count, "leaf").replace("leafs", "leaves");

/** Where the pass hands on zeros only. */
function vanishedPart() {
  const [first, last] = model.data.totals?.vanished ?? [];
  if (first === undefined) return null;
  const after = model.steps.slice(last + 1).some((step) => model.nodes.get(step.node)?.kind !== "leaf");
  const node = model.nodes.get(model.steps[first].node);
  const place = (step) => `step ${(step + 1).toLocaleString("en")}`;
  return make("div", { class: "alarm" }, make("p", {}, `The gradient is 0 from ${place(first)} ${after ? `to ${place(last)}` : "on"}: vanished.`),
    itemLink(node, node.site ? make("span", { class: "value" }, siteText(node.site)) : null));
}

/** The norms along the pass, then the parameters from the smallest norm to the largest. */
function normPart() {
  const along = model.steps.map((step) => model.nodes.get(step.node)?.norm ?? null);
  const leaves = model.order.filter((node) => node.kind === "leaf" && node.norm !== null && Number.isFinite(node.norm));
  leaves.sort((a, b) => a.norm - b.norm);
  const text = leaves.length > 1 && leaves[0].norm > 0 ? `The largest norm of a leaf is ${digits(leaves.at(-1).norm / leaves[0].norm)} times the smallest.` : null;
  return section("Where gradients vanish or explode", passChart(along, (k) => goTo(k), beside && model.steps.map((step) => number(model.nodes.get(step.node)?.other?.gradient?.norm ?? null))),
    text ? make("p", { class: "muted" }, text) : null,
    leaves.length ? make("h4", {}, leaves.length > 8 ? "Smallest norms of leaves" : "Norms of leaves") : null, rankedList(leaves, (node) => node.norm, digits, leaves.length > 8 ? 4 : 8),
    leaves.length > 8 ? make("h4", {}, "Largest norms of leaves") : null, leaves.length > 8 ? rankedList([...leaves].reverse(), (node) => node.norm, digits, 4) : null);
}

function costPart(title, measure) {
  const { of, text } = MEASURES[measure];
  const nodes = model.order.filter((node) => of(node) > 0).sort((a, b) => of(b) - of(a));
  return nodes.length ? section(title, rankedList(nodes, of, text, SHORT, false)) : null;
}

/** Items as a list with bars; a button shows the rest. */
function rankedList(items, of, text, most, logarithmic = true) {
  const values = items.map(of).filter((x) => Number.isFinite(x) && x > 0);
  const [low, high] = [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), 0)];
  const share = (x) => {
    if (!Number.isFinite(x) || !(x > 0) || !high) return 0;
    return logarithmic ? (high > low ? 0.08 + (0.92 * Math.log(x / low)) / Math.log(high / low) : 0.5) : x / high;
  };
  const row = (item) => {
    const value = of(item);
    const link = itemLink(item, make("span", { class: "value" }, value === null || value === undefined ? "" : text(value)));
    link.style.setProperty("--width", round(100 * share(value)) + "%");
    link.classList.add("bar");
    return link;
  };
  return shortList(items.map((item) => () => row(item)), most);
}

/** A list that shows its first rows, and the others on demand. */
function shortList(rows, most = SHORT) {
  if (!rows.length) return null;
  const entry = (row) => make("li", {}, typeof row === "function" ? row() : row);
  const list = make("ul", { class: "rows" }, ...rows.slice(0, most).map(entry));
  if (rows.length <= most) return list;
  const more = make("button", { type: "button", class: "more", click: () => {
    list.append(...rows.slice(most).map(entry));
    more.remove();
    list.children[most].querySelector("button")?.focus();
  } }, `Show ${rows.length - most} more`);
  return make("div", {}, list, more);
}

function viewPart() {
  const views = model.order.filter((node) => node.kind === "view");
  const writes = model.order.filter((node) => node.kind === "write");
  const list = (title, nodes) => (nodes.length ? [make("h4", {}, `${title} (${nodes.length})`), shortList(nodes.map((node) => () => itemLink(node, make("span", { class: "value" }, node.site ? siteText(node.site) : shapeText(node.outputs?.[0]?.shape)))), 4)] : []);
  return section("Views and writes in place", ...list("Writes in place", writes), ...list("Views", views));
}

function cutPart() {
  const row = (cut) => {
    const node = model.nodes.get(cut.node);
    const words = make("span", { class: "cut" }, make("b", {}, cut.why), ` ${cut.tensor ?? ""}`, cut.site ? make("span", { class: "value code" }, siteText(cut.site)) : null);
    const line = sourceLine(cut.site);
    return make("li", {}, words, line === null ? null : make("pre", { tabindex: 0 }, make("code", {}, line.trim())), node ? itemLink(node) : null);
  };
  const cuts = model.data.cuts ?? [];
  return cuts.length ? section("Where the graph was cut", make("ul", { class: "rows" }, ...cuts.map(row))) : null;
}
