// The document as the page reads it: nodes with who sends them gradients, groups with what lies in them, the pass.
"use strict";

const model = readModel(JSON.parse(document.getElementById("document").textContent));

function readModel(data) {
  const nodes = new Map((data.nodes ?? []).map((node) => [node.id, { ...node, received: [], users: [], first: null }]));
  const made = { data, nodes, groups: readGroups(data, nodes), steps: readSteps(data, nodes) };
  for (const node of nodes.values()) {
    node.norm = node.gradient?.size ? number(node.gradient.norm) : null;      // an empty gradient has not vanished
    for (const link of node.links ?? []) if (link && nodes.has(link[0])) nodes.get(link[0]).users.push(node.id);
  }
  readPass(made);
  sumUp(made);
  return made;
}

/** The groups, with the place of each node and group in the one around it. */
function readGroups(data, nodes) {
  const whole = { path: "", class: null, parent: null, children: [], ranks: [], edges: [], alike: null };
  const groups = (data.groups?.length ? data.groups : [whole]).map((group, index) => ({
    ...group, index, children: [...group.children], ranks: group.ranks.map((rank) => [...rank]),
    edges: group.edges ?? [], ports: group.ports ?? [], points: group.points ?? 0, members: [], home: group.parent, place: null,
  }));
  const settle = (group, child, place) => {
    const inner = child.node === undefined ? groups[child.group] : nodes.get(child.node);
    inner.home = group.index;
    inner.place = place;
  };
  groups.forEach((group) => group.children.forEach((child, place) => settle(group, child, place)));
  return groups;
}

/** The steps of the pass; without them, the nodes in the engine's order. */
function readSteps(data, nodes) {
  if (data.steps?.length) return data.steps;
  const ran = [...nodes.values()].filter((node) => node.order !== null && node.order !== undefined);
  return ran.sort((a, b) => a.order - b.order).map((node) => ({ node: node.id, arrivals: [], frees: 0 }));
}

/** When each node runs, which gradients it receives, and what memory is held after each step. */
function readPass(made) {
  let held = made.data.totals?.bytes ?? 0;
  made.held = made.steps.map((step) => (held -= step.frees ?? 0));
  for (const node of made.nodes.values()) node.position = null;
  made.steps.forEach((step, k) => {
    const sender = made.nodes.get(step.node);
    if (sender) sender.position = k;
    for (const arrival of step.arrivals ?? []) {
      const node = made.nodes.get(arrival.to);
      if (!node) continue;
      node.received.push({ ...arrival, from: step.node });
      node.first ??= k;
    }
  });
  made.order = [...made.nodes.values()].sort((a, b) => (a.position ?? 1e9) - (b.position ?? 1e9) || a.id - b.id);
}

/** What a group holds in all: nodes, bytes, time, the largest norm, what is wrong. */
function sumUp(made) {
  for (const node of made.order) {
    for (let at = node.home; at !== null; at = made.groups[at].home) made.groups[at].members.push(node.id);
  }
  const worst = ["nan", "inf", "none"];
  for (const group of made.groups) {
    const all = group.members.map((id) => made.nodes.get(id));
    const norms = all.map((node) => node.norm).filter((norm) => norm !== null);
    group.bytes = all.reduce((sum, node) => sum + (node.bytes ?? 0), 0);
    group.time = all.reduce((sum, node) => sum + (node.time ?? 0), 0);
    group.norms = norms;
    group.norm = norms.length ? norms.reduce((a, b) => Math.max(a, b), 0) : null;
    group.problem = worst.find((problem) => all.some((node) => node.problem === problem)) ?? null;
    group.position = all.length ? all[0].position : null;
  }
}

/** The picture of a gradient where it arrives: its own, or that of the node if no other gradient arrives there. */
const pictureThere = (arrival) => arrival.picture ?? model.nodes.get(arrival.to)?.picture ?? null;

/** The nodes to which a node sends gradients, each once. */
function targets(node) {
  return [...new Set((node.links ?? []).filter((link) => link && model.nodes.has(link[0])).map((link) => link[0]))];
}

/** The path of a group, or its class; of a run of equal parts also how many they are, and of a part its number. */
function groupTitle(group) {
  if (group.index === 0) return "the whole graph";
  const step = group.step ? ` ${group.path ? "#" : ""}${group.step}` : "";
  return `${group.path || group.class || "group"}${step}${group.repeats > 1 ? ` × ${group.repeats}` : ""}`;
}

/** "in 2: Linear", as error messages name a module. */
function whereText(node) {
  if (node.module === null || node.module === undefined || node.module === "") return node.class ? `in ${node.class}` : "";
  return `in ${node.module}${node.class ? `: ${node.class}` : ""}`;
}

/** The source text of a line of the program. */
const sourceLine = (site) => (site ? model.data.sources?.[site.file]?.[site.line] ?? null : null);
const fileName = (path) => String(path).split(/[\\/]/).at(-1);
const siteText = (site) => `${fileName(site.file)}:${site.line}`;
const problemText = { nan: "NaN", inf: "inf", none: "no gradient" };
