// Structured log lines, and a log that leaves out repeated lines. Callers pass names and numbers only: never SQL,
// values, tokens or the engine's messages.
import type { Clock } from "./clock.ts";

type LogLevel = "info" | "warn" | "error";
type LogFields = Readonly<Record<string, string | number | boolean | null>>;
/** Writes one line. */
export type Log = (level: LogLevel, event: string, fields?: LogFields) => void;

/**
 * Writes each line as a JSON object to standard error. `nowIso` comes from the caller's clock. A line that cannot be written is
 * lost: standard error may lead to the disk that is full, or to a program that has ended.
 */
export function jsonLog(nowIso: () => string): Log {
  const encoder = new TextEncoder();
  return (level, event, fields) => {
    const line = encoder.encode(JSON.stringify({ ts: nowIso(), level, event, ...fields }) + "\n");
    try {
      Deno.stderr.writeSync(line);
    } catch {
      // Whoever tells something goes on with what it was about.
    }
  };
}

/** Drops every line; for tests. */
export const silentLog: Log = (): void => {};

/** Milliseconds after a line during which equal lines are only counted. */
const QUIET_MS = 60_000;
/** Kinds of lines that are told apart; beyond it the oldest is forgotten. */
const MAX_KINDS = 1000;

/**
 * Writes the first line of a kind (its event and the words in its fields), and then one each minute with `again`, the
 * number of lines left out. Levels that are not in `levels` pass.
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
