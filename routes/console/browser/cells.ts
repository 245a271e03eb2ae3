/// <reference lib="dom" />
// A double click on a cell opens the form of its row at that column, as the link in front of the row does. In that form a field
// that holds nothing, left out or NULL, becomes what its column holds once somebody types into it.

document.addEventListener("dblclick", (event) => {
  const cell = event.target instanceof Element ? event.target.closest<HTMLElement>("td[data-col]") : null;
  const link = cell?.closest("tr")?.querySelector<HTMLAnchorElement>("a[data-row]");
  if (!cell || !link) return;
  const url = new URL(link.href);
  url.searchParams.set("col", cell.dataset["col"] ?? "");
  location.assign(url);
});

/** What the types were before somebody typed, for whoever empties the field again. */
const before = new WeakMap<HTMLSelectElement, string>();

document.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLTextAreaElement)) return;
  const type = target.closest(".typed")?.querySelector<HTMLSelectElement>("select[data-own]");
  if (!type) return;
  const was = before.get(type);
  if (target.value !== "" && (type.value === "omit" || type.value === "null")) {
    before.set(type, type.value);
    type.value = type.dataset["own"] ?? type.value;
  } else if (target.value === "" && was !== undefined && type.value === type.dataset["own"]) {
    before.delete(type);
    type.value = was;
  }
});
