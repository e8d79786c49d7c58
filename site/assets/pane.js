// A picture with the choice of its row, its access and its request. The program draws.

import { Passes } from "./passes.js";

/// Fills a select with these names, and chooses what the reader has chosen, or the first that there is of the preferred ones.
function fill(select, names, preferred) {
  select.replaceChildren(...names.map((name) => new Option(name)));
  const value = [select.dataset.chosen, ...preferred].find((name) => names.includes(name));
  if (value !== undefined) select.value = value;
}

export class Pane {
  /// The request that is drawn. The output beside the buttons holds the one that the reader has chosen, from 1.
  #request = 0;

  /// `section` is its part of the page; `changed` is called with this when its choice has changed, and with whether that is the row.
  constructor(section, simulator, changed) {
    this.section = section;
    this.simulator = simulator;
    this.passes = new Passes(section);
    [this.row, this.access] = section.querySelectorAll("select");
    this.steps = section.querySelector(".steps output");
    for (const select of [this.row, this.access]) {
      select.addEventListener("change", async () => {
        delete this.steps.dataset.chosen;
        select.dataset.chosen = select.value;
        if (select === this.row) this.#offer();
        await this.draw();
        changed(this, select === this.row);
      });
    }
    for (const button of section.querySelectorAll("[data-step]")) {
      button.addEventListener("click", async () => {
        this.steps.dataset.chosen = this.#request + 1 + Number(button.dataset.step);
        await this.draw();
        this.steps.dataset.chosen = this.#request + 1;
        changed(this, false);
      });
    }
  }

  /// Shows a run, which is in this slot, beginning with one of these rows and this access.
  show(slot, overview, rows, access) {
    Object.assign(this, { slot, overview, wanted: access });
    const offered = overview.rows.filter((row) => row.accesses.length > 0);
    fill(this.row, offered.map((row) => row.name), rows);
    this.#offer();
    return this.draw();
  }

  /// The index of the chosen row; -1 if none has an access.
  get index() {
    return this.overview.rows.findIndex((row) => row.name === this.row.value);
  }

  /// The line of the chosen access; undefined if the program has none.
  get line() {
    return this.overview.rows[this.index]?.accesses[this.access.selectedIndex]?.line;
  }

  #offer() {
    const { accesses, begin_with } = this.overview.rows[this.index] ?? { accesses: [], begin_with: {} };
    const named = accesses.map(({ what, line }, index) => (line ? `${what}, line ${line}` : `${what} ${index}`));
    fill(this.access, named, [named[begin_with[this.wanted]]]);
  }

  async draw() {
    const row = this.overview.rows[this.index];
    const access = this.access.selectedIndex;
    const { requests, first } = row?.accesses[access] ?? { requests: 0, first: 0 };
    const { chosen } = this.steps.dataset;
    const wanted = chosen === undefined ? first : Number(chosen) - 1 || 0;
    const request = requests && ((wanted % requests) + requests) % requests;
    this.#request = request;
    const { picture } = row ? await this.simulator.ask({ do: "picture", slot: this.slot, row: this.index, access, request }) : {};
    this.sentence = picture?.says ?? "";
    this.section.querySelector(".drawing").innerHTML = picture?.svg ?? "<p>No access to memory is drawn here.</p>";
    this.steps.textContent = picture ? `${request + 1} of ${requests}: ${picture.made_by}` : "";
    for (const button of this.section.querySelectorAll("[data-step]")) button.disabled = requests < 2;
    this.passes.show();
    this.section.querySelector(".predicted").textContent = row?.predicted ?? "";
  }
}
