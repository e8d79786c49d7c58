// The editor as CodeMirror, with the same methods as the text area of ../assets/text.js, in whose place
// it stands. `cargo learn serve` bundles it into one file, if npm is there.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { rust } from "@codemirror/lang-rust";
import { bracketMatching, codeFolding, foldKeymap, HighlightStyle, indentOnInput, indentUnit, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

// The colours are the pages', for light and dark.
const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.comment], color: "var(--quiet)" },
    { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.definitionKeyword, tags.controlKeyword], color: "var(--blue)", fontWeight: "600" },
    { tag: [tags.string, tags.character, tags.number, tags.bool, tags.literal], color: "var(--literal)" },
    { tag: [tags.typeName, tags.className, tags.namespace], color: "var(--type)" },
    { tag: [tags.macroName, tags.meta, tags.annotation, tags.attributeName], color: "var(--cost)" },
    { tag: [tags.propertyName], color: "var(--ink)" },
  ]),
);

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--card)" },
  ".cm-scroller": { fontFamily: 'ui-monospace,"DejaVu Sans Mono",monospace', lineHeight: "1.46", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", padding: ".5rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { color: "var(--quiet)", backgroundColor: "var(--card)", borderRight: "1px solid var(--rule)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--active)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selected) !important" },
  ".cm-selectionMatch, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--selected)", outline: "0" },
  ".cm-panels, .cm-tooltip": { color: "var(--ink)", backgroundColor: "var(--card)", borderColor: "var(--rule)" },
  ".cm-tooltip": { maxWidth: "min(40rem, 90vw)", border: "1px solid var(--rule)", borderRadius: "6px" },
  ".cm-diagnostic": { whiteSpace: "pre-wrap", borderLeftColor: "var(--cost)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--cost)" },
  ".cm-panel.cm-search": { padding: ".4rem .6rem" },
});

/** The editor of a text area, which it hides. */
export const editorOf = (area) => {
  const name = area.getAttribute("aria-label");
  const parent = document.createElement("div");
  parent.className = "editor";
  area.before(parent);
  area.hidden = true;
  const listeners = [];
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: area.value,
      extensions: [
        EditorView.cspNonce.of(document.querySelector("meta[name=style-nonce]").nonce),
        lintGutter(),
        lineNumbers(),
        highlightActiveLineGutter(),
        history(),
        codeFolding(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        indentUnit.of("    "),
        EditorState.tabSize.of(4),
        name.endsWith(".toml") ? StreamLanguage.define(toml) : rust(),
        colours,
        look,
        keymap.of([...closeBracketsKeymap, ...defaultKeymap.filter(({ key }) => key !== "Mod-Enter"), ...searchKeymap, ...historyKeymap, ...foldKeymap, ...lintKeymap, indentWithTab]),
        EditorView.contentAttributes.of({
          "aria-label": name,
          "aria-description": "Tab indents. To leave the editor, press Escape and then Tab.",
          tabindex: "0",
          autocapitalize: "off",
          autocorrect: "off",
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) for (const call of listeners) call();
        }),
      ],
    }),
  });

  const place = (line, column = 1) => {
    const at = view.state.doc.line(Math.min(Math.max(1, line), view.state.doc.lines));
    return { ...at, from: at.from, to: at.to, at: Math.min(at.from + column - 1, at.to), text: at.text };
  };

  return {
    get text() {
      return view.state.doc.toString();
    },
    set text(text) {
      // Only what differs is replaced, so that the cursor stays and the change can be undone.
      const before = view.state.doc.toString();
      const most = Math.min(before.length, text.length);
      let [from, same] = [0, 0];
      while (from < most && before[from] === text[from]) from++;
      while (same < most - from && before[before.length - 1 - same] === text[text.length - 1 - same]) same++;
      view.dispatch({ changes: { from, to: before.length - same, insert: text.slice(from, text.length - same) } });
    },
    /** Marks lines, each with a message. */
    mark(places) {
      const diagnostics = places.map(({ line, column, message }) => {
        const { from, to, at, text } = place(line, column ?? 1);
        const word = column ? text.slice(at - from).match(/^\w+|^\S/)?.[0].length ?? 0 : 0;
        const start = column ? at : from + text.length - text.trimStart().length;
        return { from: start, to: word ? at + word : to, severity: "error", message };
      });
      view.dispatch(setDiagnostics(view.state, diagnostics.sort((one, other) => one.from - other.from)));
    },
    /** Goes to a line. */
    show(line, column) {
      const { at } = place(line, column);
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      view.focus();
    },
    /** Shows this line at the top, without the focus. */
    begin(line) {
      const { from } = place(line);
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "start", yMargin: 0 }) });
    },
    changed: (call) => listeners.push(call),
  };
};
