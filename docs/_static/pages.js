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
}
