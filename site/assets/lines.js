// The source and its PTX: what one points at in one of them lights up in the other.

export function link(source) {
  const light = ({ target, type }) => {
    const line = type === "pointerleave" ? undefined : target.closest("[data-line]")?.dataset.line;
    for (const row of source.querySelectorAll("[data-line]")) row.classList.toggle("lit", row.dataset.line === line);
  };
  source.addEventListener("pointerover", light);
  source.addEventListener("pointerleave", light);
  // A click brings the first of the others into view.
  source.addEventListener("click", ({ target }) => {
    const row = target.closest("[data-line]");
    if (!row) return;
    const table = row.closest("table");
    const others = [...source.querySelectorAll(`[data-line="${row.dataset.line}"]`)].filter((other) => !table.contains(other));
    const scroll = others[0]?.closest(".scroll");
    if (scroll) scroll.scrollTop += others[0].getBoundingClientRect().top - row.getBoundingClientRect().top;
  });
}
