// A picture with the choice of its row, its access and its request. The program draws.

/// Fills a select with these names, and chooses what the reader has chosen, or the first that there is of the preferred ones.
function fill(select, names, preferred) {
  select.replaceChildren(...names.map((name) => new Option(name)));
  const value = [select.dataset.chosen, ...preferred].find((name) => names.includes(name));
  if (value !== undefined) select.value = value;
}

export class Pane {
  #step = 0;

  /// `section` is its part of the page; `changed` is called when its choice has changed.
  constructor(section, simulator, changed) {
    this.section = section;
    this.simulator = simulator;
    [this.row, this.access] = section.querySelectorAll("select");
    for (const select of [this.row, this.access]) {
      select.addEventListener("change", async () => {
        this.#step = 0;
        select.dataset.chosen = select.value;
        if (select === this.row) this.#offer();
        await this.draw();
        changed(this);
      });
    }
    for (const button of section.querySelectorAll("[data-step]")) {
      button.addEventListener("click", () => {
        this.#step += Number(button.dataset.step);
        this.draw();
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

  #offer() {
    const accesses = this.overview.rows[this.index]?.accesses ?? [];
    const options = accesses.map(({ what, line }, index) => [line ? `${what}, line ${line}` : `${what} ${index}`, what]);
    const named = options.map(([name]) => name);
    // Of several of a kind, the last: the first may be a kernel's set-up.
    const preferred = options.filter(([, what]) => what === this.wanted).map(([name]) => name).reverse();
    fill(this.access, named, preferred);
  }

  async draw() {
    const row = this.overview.rows[this.index];
    const access = this.access.selectedIndex;
    const requests = row?.accesses[access]?.requests ?? 0;
    this.#step = requests && (this.#step + requests) % requests;
    const { picture } = row ? await this.simulator.ask({ do: "picture", slot: this.slot, row: this.index, access, request: this.#step }) : {};
    this.sentence = picture?.says ?? "";
    this.section.querySelector(".drawing").innerHTML = picture?.svg ?? "<p>No access to memory is drawn here.</p>";
    this.section.querySelector(".steps output").textContent = picture ? `${this.#step + 1} of ${requests}: ${picture.made_by}` : "";
    for (const button of this.section.querySelectorAll("[data-step]")) button.disabled = requests < 2;
    this.section.querySelector(".predicted").textContent = row?.predicted ?? "";
  }
}
