// "Copy link", "Copy link to embed" and "Save SVG": what takes a page, as it stands, to a slide or to a mail.

/// The address of the page as it stands: with its frame, or without it.
function address(embedded) {
  const to = new URL(location.href);
  to.searchParams.delete("embed");
  if (embedded) to.searchParams.set("embed", "1");
  to.search = to.search.replaceAll("%2C", ",").replaceAll("%3A", ":");
  return to.href;
}

/// Copies a text, and says so on the button.
async function copy(button, text) {
  const before = button.textContent;
  const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  button.textContent = copied ? "Copied" : `Copy it from here: ${text}`;
  setTimeout(() => (button.textContent = before), copied ? 1500 : 15000);
}

/// A drawing of this page as a file's text: with the rules of its look, as it stands.
function file(drawing) {
  const copy = drawing.cloneNode(true);
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).map((rule) => rule.cssText);
  style.textContent = rules.filter((rule) => rule.includes(".picture") && !rule.startsWith("@container")).join("\n");
  copy.prepend(style);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}

/// Makes the buttons work. `drawing` gives the drawing to save, and `name` the file's name without its ending.
export function share(drawing, name) {
  const part = (id) => document.getElementById(id);
  part("copy").addEventListener("click", () => copy(part("copy"), address(false)));
  part("copy-embedded").addEventListener("click", () => copy(part("copy-embedded"), address(true)));
  part("save").addEventListener("click", () => {
    const svg = drawing();
    if (!svg) return;
    const href = `data:image/svg+xml,${encodeURIComponent(file(svg))}`;
    Object.assign(document.createElement("a"), { href, download: `${name()}.svg` }).click();
  });
}
