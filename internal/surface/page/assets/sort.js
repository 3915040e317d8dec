// A table is sorted by the buttons in its head. A cell is compared by its data-value, a number, or else by its text.

const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

function key(row, column) {
  const { value } = row.cells[column].dataset;
  return value === undefined ? row.cells[column].textContent : Number(value);
}

const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : order.compare(String(a), String(b)));

function sort(head) {
  const descending = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const [body] = head.closest("table").tBodies;
  const rows = [...body.rows].sort((a, b) => compare(key(a, head.cellIndex), key(b, head.cellIndex)));
  body.append(...(descending ? rows.reverse() : rows));
}

// offerSorting gives the heads of the columns their buttons.
export function offerSorting(part) {
  for (const head of part.querySelectorAll("th[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head));
    head.append(button);
  }
}
