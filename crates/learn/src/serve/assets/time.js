// Times in the reader's own zone. Without scripts they stay in UTC.

const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
for (const element of document.querySelectorAll("time[datetime]")) {
  element.title = element.textContent;
  element.textContent = format.format(new Date(element.dateTime));
}
