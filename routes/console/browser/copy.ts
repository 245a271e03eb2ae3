/// <reference lib="dom" />
// Buttons that copy: they are hidden until there is a script to serve them.

/** How long a button says that it has copied. */
const SAID_MS = 2_000;

/** One listener for all buttons with `data-copy`, which holds the text. */
export function copyButtons(page: Document): void {
  page.documentElement.classList.add("scripted");
  const spoken = page.createElement("p");
  spoken.className = "unseen";
  spoken.role = "status";
  page.body.append(spoken);
  page.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const button = event.target.closest<HTMLButtonElement>("[data-copy]");
    if (button) void copy(page, button, spoken);
  });
}

/** `spoken`: where those hear it who do not see the button. */
async function copy(page: Document, button: HTMLButtonElement, spoken: HTMLElement): Promise<void> {
  const isCopied = await writeText(page, button, button.dataset["copy"] ?? "").then(() => true, () => false);
  const label = button.querySelector("span") ?? button;
  // A second click finds the word of the first one there.
  const before = button.dataset["label"] ??= label.textContent ?? "";
  label.textContent = isCopied
    ? "Copied"
    : selectBeside(page, button)
    ? "Not copied, but selected"
    : "Not copied";
  spoken.textContent = label.textContent;
  if (!isCopied) return;
  setTimeout(() => {
    label.textContent = before;
    spoken.textContent = "";
  }, SAID_MS);
}

/** So that one's own keys copy it where the browser refuses to. False where nothing beside the button can be selected. */
function selectBeside(page: Document, button: HTMLButtonElement): boolean {
  const shown = button.closest(".copy-line, .card")?.querySelector("code");
  const selection = page.getSelection();
  if (!shown || selection === null) return false;
  selection.selectAllChildren(shown);
  return selection.toString() !== "";
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
