// The form: the setting as a command line, and in the address bar. The address holds what differs from the page as it opens.

const isSwitch = (control) => control.type === "checkbox";
const value = (control) => (isSwitch(control) ? (control.checked ? "1" : "0") : control.value);

export class Form {
  /// `form` is the form; `choices` are selects and steps beside pictures, which belong to the setting where a reader has chosen.
  constructor(form, choices) {
    this.choices = choices;
    this.controls = [...form.elements].filter((control) => control.name);
    this.groups = [...form.querySelectorAll("fieldset")].map((group) => [...group.querySelectorAll("[type=checkbox]")]);
    this.first = new Map(this.controls.map((control) => [control.name, value(control)]));
    this.read();
  }

  control(name) {
    return this.controls.find((control) => control.name === name);
  }

  /// Takes the setting from the address bar.
  read() {
    const address = new URLSearchParams(location.search);
    for (const control of this.controls) {
      const given = address.get(control.name) ?? this.first.get(control.name);
      if (isSwitch(control)) control.checked = given === "1";
      else control.value = given;
    }
    for (const choice of this.choices) {
      if (address.has(choice.name)) choice.dataset.chosen = address.get(choice.name);
    }
    this.slid();
  }

  /// Follows a reader who moves a control (`input`) and lets go of it (`change`): what is then there is chosen, and Back is to
  /// come to it again. `busy` says whether the page still runs what is there.
  follow(type, busy) {
    this.chosen = type === "change";
    if (this.chosen && !busy()) this.settled = true;
  }

  /// Says that what is there is in the address bar.
  done() {
    this.settled ||= this.chosen || !this.begun;
    this.begun = true;
  }

  /// Puts the setting into the address bar: as a step that Back undoes if the last one was settled, else in its place.
  write() {
    const address = new URLSearchParams();
    for (const control of this.controls) {
      if (value(control) !== this.first.get(control.name)) address.set(control.name, value(control));
    }
    for (const { name, dataset } of this.choices) {
      if (dataset.chosen) address.set(name, dataset.chosen);
    }
    if (new URLSearchParams(location.search).get("embed") === "1") address.set("embed", "1");
    const query = address.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
    const to = query ? `?${query}` : location.pathname;
    if (to !== (location.search || location.pathname)) {
      history[this.settled ? "pushState" : "replaceState"](null, "", to);
      this.settled = false;
    }
  }

  /// Shows the values of sliders, and ticks what runs where nothing is ticked.
  slid() {
    for (const group of this.groups) {
      if (!group.some(({ checked }) => checked)) for (const control of group) control.checked = "usual" in control.dataset;
    }
    for (const control of this.controls) {
      if (control.type !== "range") continue;
      const says = control.dataset.names?.split("|")[control.value] ?? control.value;
      control.closest(".field").querySelector("output").value = says;
      if (control.dataset.names) control.setAttribute("aria-valuetext", says);
    }
  }

  /// The flags of the command line, without the device, and without this one.
  flags(without) {
    const isUsual = ({ checked, dataset }) => checked === "usual" in dataset;
    const usual = new Set(this.groups.filter((group) => group.every(isUsual)).flat());
    return this.controls.flatMap((control) => {
      const { flag, with: companion = "" } = control.dataset;
      if (!flag || flag === "device" || flag === without) return [];
      if (isSwitch(control)) return control.checked && !usual.has(control) ? [`--${flag}`] : [];
      const given = control.value.trim();
      return given === "" ? [] : [`--${flag}`, companion + given];
    });
  }
}
