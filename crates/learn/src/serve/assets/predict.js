// Questions with a number each: their fields stand for lines of the file.

/** Joins the fields of the questions with the editor's text. */
export const joinQuestions = (questions, editor) => {
  const fields = [...questions.querySelectorAll("[data-question]")];
  const line = (name) => new RegExp(`^([ \\t]*${name}[ \\t]*=[ \\t]*)(.*)$`, "m");

  const read = () => {
    for (const field of fields) {
      if (field === document.activeElement) continue;
      const value = editor.text.match(line(field.dataset.question))?.[2].replace(/#.*/, "").trim() ?? "";
      field.value = value === '"?"' ? "" : value.replace(/^"(.*)"$/, "$1");
    }
  };

  for (const field of fields) {
    field.addEventListener("input", () => {
      const value = field.value.trim();
      const number = /^[+-]?\d+(\.\d+)?$/.test(value);
      const written = value === "" ? '"?"' : number ? value : JSON.stringify(value);
      editor.text = editor.text.replace(line(field.dataset.question), (_, begin) => begin + written);
    });
    field.addEventListener("blur", read);
  }
  editor.changed(read);
  read();
  questions.hidden = false;
  return read;
};
