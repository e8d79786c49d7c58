// `?embed=1`: the page without its frame, for slides and pages of a course. Done before anything is shown.
if (new URLSearchParams(location.search).get("embed") === "1") document.documentElement.classList.add("embedded");
