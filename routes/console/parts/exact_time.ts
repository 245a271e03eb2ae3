// A moment to the millisecond, in UTC wherever it is read: what one goes back to is no "5 minutes ago".

/** `2026-11-20 14:05:30.250 UTC`. `at`: ISO 8601, or unix milliseconds. */
export function exactTime(at: string | number): string {
  return `${new Date(at).toISOString().slice(0, 23).replace("T", " ")} UTC`;
}
