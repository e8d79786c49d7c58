// The wavefronts of a drawing, one after the other: a button plays them, two step through them. The drawing says which
// wavefront serves each word; what others serve is faint.

/// A wavefront stays this long, in milliseconds; many of them shorter, so that all take a few seconds.
const STAY = (count) => Math.max(120, Math.min(700, 6000 / count));

export class Passes {
  #timer;
  /// The wavefront that is shown; undefined if all are.
  #at;

  /// `section` is the drawing's part of the page.
  constructor(section) {
    this.drawing = section.querySelector(".drawing");
    this.controls = section.querySelector(".passes");
    this.says = this.controls.querySelector("output");
    this.button = this.controls.querySelector(".play");
    this.button.addEventListener("click", () => (this.#timer ? this.#stop(undefined) : this.#play()));
    for (const button of this.controls.querySelectorAll("[data-pass-step]")) {
      button.addEventListener("click", () => this.#step(Number(button.dataset.passStep)));
    }
    this.show();
  }

  /// How many wavefronts the drawing has; 0 if it does not say which serves what.
  get count() {
    return Math.max(0, ...[...this.drawing.querySelectorAll("[data-pass]")].map(({ dataset }) => Number(dataset.pass) + 1));
  }

  /// Takes what is drawn now.
  show() {
    this.#stop(undefined);
    this.controls.hidden = this.count < 2;
  }

  #play() {
    const { count } = this;
    this.#light(0);
    this.#timer = setInterval(() => (this.#at + 1 < count ? this.#light(this.#at + 1) : this.#stop(undefined)), STAY(count));
    this.button.textContent = "■ Stop";
  }

  #stop(at) {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.button.textContent = "▶ Play";
    this.#light(at);
  }

  /// From all of them to the first or the last, and past these to all again.
  #step(by) {
    const { count } = this;
    const next = (this.#at ?? (by > 0 ? -1 : count)) + by;
    this.#stop(next >= 0 && next < count ? next : undefined);
  }

  #light(at) {
    this.#at = at;
    for (const part of this.drawing.querySelectorAll("[data-pass]")) {
      part.classList.toggle("faint-pass", at !== undefined && Number(part.dataset.pass) !== at);
    }
    this.says.textContent = at === undefined ? `${this.count} wavefronts` : `wavefront ${at + 1} of ${this.count}`;
  }
}
