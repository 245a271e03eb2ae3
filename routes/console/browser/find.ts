/// <reference lib="dom" />
// Fields that filter what a page lists: `data-find` says what, and each of those carries its words.

document.addEventListener("input", (event) => {
  const field = event.target;
  if (!(field instanceof HTMLInputElement)) return;
  const wanted = field.dataset["find"];
  if (wanted === undefined) return;
  const words = field.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
  for (const item of document.querySelectorAll<HTMLElement>(wanted)) {
    const text = (item.dataset["words"] ?? "").toLowerCase();
    item.hidden = !words.every((word) => text.includes(word));
  }
});
