// Straight chains: the second step of the coordinates. Python has the same rule for its pictures (viz/coordinates.py).
"use strict";

/**
 * Makes chains of items straight. A chain is a column, which moves as a whole to the mean of where its items were.
 * Columns that come too close move aside: once all to one side, once all to the other, and the mean keeps distances too.
 */
function inColumns(rows, packed) {
  const columns = chainsOf(rows);
  for (const column of columns) {
    column.wanted = column.members.reduce((sum, item) => sum + item.at - item.shift, 0) / column.members.length;
    Object.assign(column, { after: [], before: [], waiting: 0 });
  }
  rows.forEach((row, r) => {
    for (let k = 1; k < row.length; k += 1) {
      const far = packed[r][k] - packed[r][k - 1] + row[k - 1].shift - row[k].shift;
      row[k - 1].column.after.push([row[k].column, far]);
      row[k].column.before.push([row[k - 1].column, far]);
      row[k].column.waiting += 1;
    }
  });
  const order = columns.filter((column) => !column.waiting);
  for (const column of order) for (const [other] of column.after) if ((other.waiting -= 1) === 0) order.push(other);
  for (const column of order) column.high = column.before.reduce((most, [other, far]) => Math.max(most, other.high + far), column.wanted);
  for (const column of order.reverse()) column.low = column.after.reduce((least, [other, far]) => Math.min(least, other.low - far), column.wanted);
  for (const row of rows) for (const item of row) item.at = (item.column.high + item.column.low) / 2 + item.shift;
}

/** Two items share a column if the edge between them is the heaviest of both and crosses no heavier such edge. */
function chainsOf(rows) {
  const columns = [];
  let upper = [];
  for (const row of rows) {
    for (const item of row) Object.assign(item, { column: null, shift: 0 });
    for (const [start, end, pull] of withoutCrossings(heaviestPairs(upper, row))) {
      Object.assign(row[end], { column: upper[start].column, shift: upper[start].shift + pull[1] });
      row[end].column.members.push(row[end]);
    }
    for (const item of row) if (!item.column) columns.push((item.column = { members: [item] }));
    upper = row;
  }
  return columns;
}

/** Pairs of places in two rows whose edge is the heaviest of both, the heaviest pairs first. */
function heaviestPairs(upper, row) {
  const position = new Map(upper.map((item, k) => [item, k]));
  const pairs = [];
  row.forEach((item, k) => {
    const pull = heaviest(item.above);
    if (pull && heaviest(pull[0].below)?.[0] === item) pairs.push([position.get(pull[0]), k, pull]);
  });
  return pairs.sort((a, b) => b[2][2] - a[2][2] || a[0] - b[0] || a[1] - b[1]);
}

/** The pairs that cross no pair before them. */
function withoutCrossings(pairs) {
  const kept = [];
  for (const pair of pairs) {
    let at = kept.findIndex(([other]) => other >= pair[0]);
    if (at < 0) at = kept.length;
    if ((at === 0 || kept[at - 1][1] < pair[1]) && (at === kept.length || pair[1] < kept[at][1])) kept.splice(at, 0, pair);
  }
  return kept;
}

/** The one pull that weighs more than all others, if there is such a pull. */
function heaviest(pulls) {
  const most = pulls.reduce((best, pull) => (!best || pull[2] > best[2] ? pull : best), null);
  return most && pulls.filter((pull) => pull[2] === most[2]).length === 1 ? most : null;
}
