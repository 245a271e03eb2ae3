/// <reference lib="dom" />
// Buttons that copy: they are hidden until there is a script to serve them.

/** How long a button says that it has copied. */
const SAID_MS = 2_000;

/** One listener for all buttons with `data-copy` (the text) or `data-copy-from` (the id of what holds it). */
export function copyButtons(page: Document): void {
  page.documentElement.classList.add("scripted");
  page.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const button = event.target.closest<HTMLButtonElement>("[data-copy], [data-copy-from]");
    if (button) void copy(page, button);
  });
}

async function copy(page: Document, button: HTMLButtonElement): Promise<void> {
  const { copy, copyFrom } = button.dataset;
  await writeText(page, button, copy ?? page.getElementById(copyFrom ?? "")?.textContent ?? "");
  const label = button.querySelector("span") ?? button;
  // A second click finds the word of the first one there.
  const before = button.dataset["label"] ??= label.textContent ?? "";
  label.textContent = "Copied";
  setTimeout(() => label.textContent = before, SAID_MS);
}

/** Browsers have a clipboard for scripts only under https and on the machine itself; elsewhere they copy what is selected. */
async function writeText(page: Document, button: HTMLButtonElement, text: string): Promise<void> {
  if ("clipboard" in navigator) return await navigator.clipboard.writeText(text);
  const field = page.createElement("textarea");
  field.value = text;
  field.style.position = "fixed";
  field.style.opacity = "0";
  // Beside the button: in a dialog nothing else can be selected.
  button.after(field);
  field.select();
  const isCopied = page.execCommand("copy");
  field.remove();
  button.focus();
  if (!isCopied) throw new DOMException("the browser copies nothing", "NotAllowedError");
}
