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
