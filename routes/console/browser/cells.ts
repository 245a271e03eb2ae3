/// <reference lib="dom" />
// A double click on a cell opens the form of its row at that column, as the link in front of the row does.

document.addEventListener("dblclick", (event) => {
  const cell = event.target instanceof Element ? event.target.closest<HTMLElement>("td[data-col]") : null;
  const link = cell?.closest("tr")?.querySelector<HTMLAnchorElement>("a[data-row]");
  if (!cell || !link) return;
  const url = new URL(link.href);
  url.searchParams.set("col", cell.dataset["col"] ?? "");
  location.assign(url);
});
