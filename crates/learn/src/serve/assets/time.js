// Times in the reader's own zone, which is named: an hour occurs twice when summer time ends, and a computer's zone may be
// wrong. Without scripts they stay in UTC.

const date = { year: "numeric", month: "short", day: "numeric" };
const format = new Intl.DateTimeFormat(undefined, { ...date, hour: "numeric", minute: "2-digit", timeZoneName: "short" });
for (const element of document.querySelectorAll("time[datetime]")) {
  element.title = element.textContent;
  element.textContent = format.format(new Date(element.dateTime));
}
