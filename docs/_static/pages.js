// The two asides of the theme get names, by which screen readers tell them apart.
document.querySelector("aside.sidebar-drawer")?.setAttribute("aria-label", "All pages");
document.querySelector("aside.toc-drawer")?.setAttribute("aria-label", "Sections of this page");

// What scrolls sideways can be scrolled with the keys too.
const reachable = () => {
  for (const box of document.querySelectorAll(".table-wrapper, pre")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
};
reachable();
addEventListener("resize", reachable);

// A field above each table of the class "searched": rows without all of the words that are typed are hidden.
for (const table of document.querySelectorAll("table.searched")) {
  const rows = [...table.tBodies[0].rows].map((row) => [row, row.textContent.toLowerCase()]);
  const box = document.createElement("p");
  box.className = "table-search";
  box.innerHTML = '<label>Search in the table <input type="search" autocomplete="off"></label> <output></output>';
  const [input, count] = [box.querySelector("input"), box.querySelector("output")];
  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const [row, text] of rows) {
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = `${shown} rows`;
  };
  input.addEventListener("input", search);
  (table.closest(".table-wrapper") ?? table).before(box);
  search();
}

// The page of search results has no title of its own.
const results = document.querySelector("#search-results");
if (results) {
  const title = document.createElement("h1");
  title.textContent = "Search";
  results.before(title);
  const script = document.createElement("script");
  script.src = `${document.documentElement.dataset.content_root}_static/messages.js`;
  script.onload = () => showEntries(results, new URLSearchParams(location.search).get("q") ?? "");
  document.head.append(script);
}

// The entry of a whole message: the search wants every word on a page, and a message has words of the program in it.
function showEntries(results, query) {
  const words = (text) => text.toLowerCase().match(/[a-z_]{2,}/g) ?? [];
  const asked = new Set(words(query));
  if (asked.size < 3) return;
  const scored = MESSAGES.map(([sentence, address]) => {
    const needed = [...new Set(words(sentence))];
    const shared = needed.filter((word) => asked.has(word)).length;
    return { sentence, address, score: shared / needed.length, shared: shared / asked.size };
  });
  const found = scored.filter((one) => one.score >= 0.7 || one.shared >= 0.8);
  found.sort((a, b) => b.score * b.shared - a.score * a.shared);
  if (!found.length) return;
  const list = document.createElement("ul");
  list.className = "entries";
  for (const { sentence, address } of found.slice(0, 3)) {
    const link = document.createElement("a");
    link.href = document.documentElement.dataset.content_root + address;
    link.textContent = sentence;
    list.append(document.createElement("li"));
    list.lastChild.append("The error ", link);
  }
  results.before(list);
}
