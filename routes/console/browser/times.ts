/// <reference lib="dom" />
// Times in the reader's zone. The server writes them in UTC, which stays behind them as a title.

const short = new Intl.DateTimeFormat(undefined, {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const MINUTE_MS = 60_000;
/** Until then a time is told by its distance. */
const NEAR_MS = 60 * MINUTE_MS;

/** Rewrites every `<time datetime>` below `root` that was not rewritten yet. */
export function localTimes(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLTimeElement>("time[datetime]:not([title])")) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    element.title = `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
    element.textContent = text(at, Date.now());
  }
}

function text(at: Date, now: number): string {
  const distance = at.getTime() - now;
  if (Math.abs(distance) >= NEAR_MS) return inTwo(at);
  if (Math.abs(distance) < MINUTE_MS / 2) return "just now";
  return relative.format(Math.round(distance / MINUTE_MS), "minute");
}

/** In a narrow column the date stands above the time of the day, and neither is broken. */
function inTwo(at: Date): string {
  const parts = short.formatToParts(at);
  return parts.map(({ value }, index) =>
    parts[index + 1]?.type === "hour" ? value : value.replaceAll(" ", "\u00a0")
  ).join("");
}
