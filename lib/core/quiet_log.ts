// Keeps lines that come again and again from filling the log they are written to.
import type { Clock } from "./clock.ts";
import type { Log, LogFields, LogLevel } from "./log.ts";

/** Milliseconds for which a line is only counted after it was written. */
const QUIET_MS = 60_000;
/** Kinds that are told apart; above, the oldest starts anew. */
const MAX_KINDS = 1000;

/**
 * Writes the first line of a kind (its event and the words in its fields) and then one a minute, with `again`: how many
 * were left out since. Other levels than `levels` pass.
 */
export function quietLog(
  log: Log,
  clock: Pick<Clock, "monotonicMs">,
  levels: readonly LogLevel[] = ["warn"],
): Log {
  const kinds = new Map<string, { untilMs: number; again: number }>();
  return (level, event, fields) => {
    if (!levels.includes(level)) return log(level, event, fields);
    const kind = kindOf(event, fields);
    const nowMs = clock.monotonicMs();
    const known = kinds.get(kind);
    if (known && nowMs < known.untilMs) {
      known.again++;
      return;
    }
    kinds.delete(kind);
    const [oldest] = kinds.size >= MAX_KINDS ? kinds.keys() : [];
    if (oldest !== undefined) kinds.delete(oldest);
    kinds.set(kind, { untilMs: nowMs + QUIET_MS, again: 0 });
    log(level, event, known && known.again > 0 ? { ...fields, again: known.again } : fields);
  };
}

function kindOf(event: string, fields: LogFields = {}): string {
  return [event, ...Object.entries(fields).filter(([, value]) => typeof value === "string").flat()].join(
    "\n",
  );
}
