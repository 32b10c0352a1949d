// SPDX-License-Identifier: GPL-2.0-or-later
// Sorts and filters the table of lines.
(() => {
  const table = document.querySelector("table.lines");
  const form = document.querySelector("form.choose");
  const { text, process, sort } = form.elements;
  const count = form.querySelector("output");
  const lines = [...table.tBodies].map((body) => ({
    body,
    text: body.textContent.toLowerCase(),
    numbers: [...body.rows[0].querySelectorAll("td")].map((cell) => Number(cell.textContent.replaceAll(",", ""))),
    accesses: [...body.querySelectorAll("tr[data-processes]")].map((row) => ({
      row, processes: row.dataset.processes.split("|") })),
  }));
  const headings = [...table.tHead.rows[0].cells].slice(1);

  const filter = () => {
    const words = text.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const line of lines) {
      let found = !process.value;
      for (const { row, processes } of line.accesses) {
        row.hidden = process.value !== "" && !processes.includes(process.value);
        found ||= !row.hidden;
      }
      line.body.hidden = !found || !words.every((word) => line.text.includes(word));
      shown += line.body.hidden ? 0 : 1;
    }
    count.textContent = `${shown} of ${lines.length} lines`;
  };
  const order = (column, ascending) => {
    headings.forEach((heading) => heading.removeAttribute("aria-sort"));
    headings[column].setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const sign = ascending ? 1 : -1;
    lines.sort((a, b) => sign * (a.numbers[column] - b.numbers[column]));
    table.append(...lines.map((line) => line.body));
  };

  headings.forEach((heading, column) => {
    if (Number.isNaN(lines[0]?.numbers[column])) return; // a column of text
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => order(column, heading.getAttribute("aria-sort") === "descending"));
  });
  text.addEventListener("input", filter);
  process.addEventListener("change", filter);
  sort.addEventListener("change", () => order(Number(sort.value), false));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
})();
