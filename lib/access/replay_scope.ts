// From the headers that make a call repeatable to the hashes under which it is known. Keys of callers are never stored.
import { hash } from "node:crypto";
import type { ReplayScope } from "../control/replays.ts";
import { AppError } from "../core/errors.ts";

/** Contract 6: 1 to 200 visible characters. */
const KEY = /^[!-~]{1,200}$/;

/** `scope` is everything that tells one call from another; `content` what must be the same when it is repeated. */
export function replayScope(scope: readonly string[], content: string): ReplayScope {
  return { key: hash("sha256", JSON.stringify(scope), "hex"), requestHash: hash("sha256", content, "hex") };
}

/** Errors: `validation_failed` naming the header. */
export function requireReplayKey(header: string, value: string): void {
  if (KEY.test(value)) return;
  throw new AppError("validation_failed", {
    issues: [{ path: header, message: "Send 1 to 200 visible ASCII characters" }],
  });
}
