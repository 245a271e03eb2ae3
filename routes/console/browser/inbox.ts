/// <reference lib="dom" />
// The inbox: asks now and then whether something has changed, and tells of new approvals by notifications of the browser for
// whoever has asked for them here.

/** How often it asks; after failures more and more seldom, up to the longest wait. */
const ASK_MS = 10_000;
const LONGEST_MS = 300_000;
/** More new ones than that are told together. */
const MOST_SINGLE = 3;

const inbox = document.querySelector<HTMLElement>("[data-inbox]");
const button = document.querySelector<HTMLButtonElement>("[data-notify]");
const namespace = inbox?.dataset["inbox"] ?? "";
const CHOICE = `notify:${namespace}`;
const KNOWN = `waiting:${namespace}`;

const NONE_HERE = "This browser has no notifications for pages";

let waitMs = ASK_MS;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Whether the reader wants notifications, and the browser allows them. */
function isNotifying(): boolean {
  return "Notification" in globalThis && Notification.permission === "granted" &&
    localStorage.getItem(CHOICE) === "on";
}

function askLater(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void ask(), waitMs);
}

async function ask(): Promise<void> {
  // Nobody looks at it, and nobody wants to be told.
  if (document.hidden && !isNotifying()) return askLater();
  try {
    const response = await fetch(inbox?.dataset["ask"] ?? "", { headers: { accept: "application/json" } });
    // A session that has ended leads to the sign-in, and back here.
    if (response.status === 401) return location.reload();
    if (!response.ok) throw new Error(`${response.status}`);
    const { changed }: { changed: boolean } = await response.json();
    if (changed) return location.reload();
    waitMs = ASK_MS;
  } catch {
    waitMs = Math.min(LONGEST_MS, 2 * waitMs);
  }
  askLater();
}

/** Those that this tab has not seen before. When it sees the inbox for the first time, none is new. */
function newOnes(): HTMLAnchorElement[] {
  const waiting = [...document.querySelectorAll<HTMLAnchorElement>("a[data-waiting]")];
  const before = sessionStorage.getItem(KNOWN);
  sessionStorage.setItem(KNOWN, waiting.map((one) => one.dataset["waiting"]).join(" "));
  const known = new Set(before?.split(" "));
  return before === null ? [] : waiting.filter((one) => !known.has(one.dataset["waiting"] ?? ""));
}

function tellOf(found: readonly HTMLAnchorElement[]): void {
  if (found.length > MOST_SINGLE) {
    return tell(`${found.length} writes wait for a person`, { tag: KNOWN, href: location.href });
  }
  for (const one of found) {
    tell(one.textContent ?? "", { tag: one.dataset["waiting"] ?? "", href: one.href });
  }
}

function tell(title: string, { tag, href }: { tag: string; href: string }): void {
  // The tag keeps two tabs from telling the same twice.
  const notification = new Notification(title, { body: `${namespace} · Cubby`, tag });
  notification.addEventListener("click", () => {
    globalThis.focus();
    notification.close();
    location.href = href;
  });
}

async function change(): Promise<void> {
  if (!("Notification" in globalThis)) return show(NONE_HERE);
  if (isNotifying()) {
    localStorage.removeItem(CHOICE);
  } else if (await Notification.requestPermission() === "granted") {
    localStorage.setItem(CHOICE, "on");
    try {
      tell("You are told here of what waits", { tag: CHOICE, href: location.href });
    } catch {
      // Browsers of phones know them only from apps that are installed.
      localStorage.removeItem(CHOICE);
      return show(NONE_HERE);
    }
  } else {
    return show("The browser blocks notifications of this page: allow them in its settings");
  }
  show(isNotifying() ? "Notifications are on while the inbox is open" : "Notifications are off");
}

function show(words: string): void {
  const label = button?.querySelector("span");
  if (label) label.textContent = isNotifying() ? "Stop notifying" : "Notify me";
  const place = document.querySelector("[data-notify-words]");
  if (place) place.textContent = words;
}

if (button) {
  button.addEventListener("click", () => void change());
  show("");
  button.hidden = false;
}
const found = newOnes();
if (isNotifying()) tellOf(found);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) void ask();
});
askLater();
