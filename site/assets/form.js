// The form: the setting as a command line, and in the address bar. The address holds what differs from the page as it opens.

const isSwitch = (control) => control.type === "checkbox";
const value = (control) => (isSwitch(control) ? (control.checked ? "1" : "0") : control.value);

export class Form {
  /// `form` is the form; `others` are selects that belong to the setting, too, but not to the command line.
  constructor(form, others) {
    this.controls = [...form.elements, ...others].filter((control) => control.name);
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
      else if (control.tagName !== "SELECT" || [...control.options].some((option) => option.value === given)) control.value = given;
      else control.dataset.wanted = given;
    }
    this.slid();
  }

  /// Puts the setting into the address bar.
  write() {
    const address = new URLSearchParams();
    for (const control of this.controls) {
      if (value(control) !== this.first.get(control.name)) address.set(control.name, value(control));
    }
    const query = address.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
    history.replaceState(null, "", query ? `?${query}` : location.pathname);
  }

  /// Shows the values of sliders.
  slid() {
    for (const control of this.controls) {
      if (control.type === "range") control.closest("label").querySelector("output").value = control.value;
    }
  }

  /// The flags of the command line, without the device, and without this one.
  flags(without) {
    return this.controls.flatMap((control) => {
      const { flag, with: companion = "" } = control.dataset;
      if (!flag || flag === "device" || flag === without) return [];
      if (isSwitch(control)) return control.checked ? [`--${flag}`] : [];
      const given = control.value.trim();
      return given === "" ? [] : [`--${flag}`, companion + given];
    });
  }
}
