// The editor as a plain text area, which every browser, screen reader and phone knows.

/** The editor of a text area: the text, the lines that are marked, and where the cursor goes. */
export const editorOf = (area) => {
  const lineStart = (line) => {
    let at = 0;
    for (let rest = line - 1; rest > 0; rest--) {
      const end = area.value.indexOf("\n", at);
      if (end < 0) break;
      at = end + 1;
    }
    return at;
  };
  const lineHeight = () => parseFloat(getComputedStyle(area).lineHeight);

  // A new line begins where the one before does. Inserted this way, it can be undone.
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const before = area.value.slice(0, area.selectionStart);
    const indent = before.slice(before.lastIndexOf("\n") + 1).match(/^[ \t]*/)[0];
    if (indent) {
      event.preventDefault();
      document.execCommand("insertText", false, `\n${indent}`);
    }
  });

  return {
    get text() {
      return area.value;
    },
    set text(text) {
      const { selectionStart, selectionEnd, scrollTop } = area;
      area.value = text;
      area.setSelectionRange(selectionStart, selectionEnd);
      area.scrollTop = scrollTop;
    },
    /** Lines can't be marked in a text area: the list below it names them. */
    mark() {},
    /** Goes to a line. */
    show(line, column = 1) {
      const at = lineStart(line);
      const end = area.value.indexOf("\n", at);
      area.focus();
      area.setSelectionRange(at + column - 1, end < 0 ? area.value.length : end);
      area.scrollTop = Math.max(0, (line - 4) * lineHeight());
    },
    /** Shows this line at the top, without the focus. */
    begin(line) {
      const at = lineStart(line);
      area.setSelectionRange(at, at);
      area.scrollTop = (line - 1) * lineHeight();
    },
    changed: (call) => area.addEventListener("input", call),
  };
};
