// Tables sort by a click or a key on a heading, also those that come later; printed, all is unfolded.
document.addEventListener("click", ({ target }) => {
  const head = target.closest(".sortable th button")?.parentElement;
  if (!head) return;
  const body = head.closest("table").tBodies[0];
  const order = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const unknown = (cell) => cell.textContent === "-";
  const compared = (one, other) =>
    one.dataset.value !== undefined && other.dataset.value !== undefined
      ? one.dataset.value - other.dataset.value
      : one.textContent.localeCompare(other.textContent, "en", { numeric: true });
  const rows = [...body.rows].sort((first, second) => {
    const [one, other] = [first, second].map((row) => row.cells[head.cellIndex]);
    return unknown(one) - unknown(other) || sign * compared(one, other);
  });
  body.append(...rows);
});
// A drawing that plays stands still at a step: what comes later is faint. Past the first and the last step it plays again.
document.addEventListener("click", ({ target }) => {
  const button = target.closest(".playback button");
  if (!button) return;
  const figure = button.closest("figure");
  const parts = [...figure.querySelectorAll("[data-pass]")];
  const count = 1 + Math.max(...parts.map(({ dataset }) => Number(dataset.pass)));
  const by = Number(button.value);
  const next = Number(figure.dataset.at ?? (by > 0 ? -1 : count)) + by;
  const stands = next >= 0 && next < count;
  figure.classList.toggle("still", stands);
  for (const part of parts) part.classList.toggle("later", stands && Number(part.dataset.pass) > next);
  if (stands) figure.dataset.at = next;
  else delete figure.dataset.at;
  figure.querySelector("output").textContent = stands ? `${next + 1} of ${count}` : "";
});
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
