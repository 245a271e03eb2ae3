// A log for what fails as often as it is asked for: an event is written at once, and then not again for a minute.
import type { Clock } from "./clock.ts";
import type { Log } from "./log.ts";

/** Milliseconds between two lines that say the same. */
const PAUSE_MS = 60_000;

/** Lines of one event whose texts are equal count as the same, whatever their numbers are. Both come from closed sets. */
export function seldomLog(log: Log, clock: Pick<Clock, "monotonicMs">): Log {
  const writtenMs = new Map<string, number>();
  return (level, event, fields) => {
    const texts = Object.values(fields ?? {}).filter((value) => typeof value === "string");
    const line = [event, ...texts].join(" ");
    const nowMs = clock.monotonicMs();
    if (nowMs - (writtenMs.get(line) ?? -Infinity) < PAUSE_MS) return;
    writtenMs.set(line, nowMs);
    log(level, event, fields);
  };
}
