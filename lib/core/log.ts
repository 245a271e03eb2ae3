// Structured log lines. Callers pass names and numbers only: never SQL, values, tokens or messages of the engine.

export type LogLevel = "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, string | number | boolean | null>>;
export type Log = (level: LogLevel, event: string, fields?: LogFields) => void;

/** One JSON object a line on standard error. `nowIso` comes from the caller's clock. */
export function jsonLog(nowIso: () => string): Log {
  const encoder = new TextEncoder();
  return (level, event, fields) => {
    Deno.stderr.writeSync(encoder.encode(JSON.stringify({ ts: nowIso(), level, event, ...fields }) + "\n"));
  };
}

/** Drops everything; for tests that look at answers only. */
export const silentLog: Log = (): void => {};
