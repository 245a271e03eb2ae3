// Whether tenants' files can be written at this moment: tried, for no figure of the system tells of quotas and permissions.
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";

/** Bytes that there must be room for: about a small write with its log. */
const PROBE_BYTES = 64 * 1024;
/** Milliseconds for which an answer stands: anybody may ask. */
const GOOD_MS = 5_000;
const BAD_MS = 1_000;

/** Tries to write, and remembers the outcome for a moment. */
export class RoomProbe {
  #untilMs = -Infinity;
  #last: Promise<boolean> = Promise.resolve(true);

  constructor(private readonly folder: string, private readonly clock: Clock) {}

  /** Errors: `storage_full`, whatever keeps a file from being written there. */
  async check(): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    if (nowMs >= this.#untilMs) {
      // Who comes meanwhile hears the same.
      this.#untilMs = nowMs + GOOD_MS;
      this.#last = this.#write();
    }
    if (await this.#last) return;
    this.#untilMs = Math.min(this.#untilMs, nowMs + BAD_MS);
    throw new AppError("storage_full");
  }

  async #write(): Promise<boolean> {
    const path = `${this.folder}/room`;
    try {
      await Deno.writeFile(path, new Uint8Array(PROBE_BYTES), { mode: 0o600 });
      return true;
    } catch {
      return false;
    } finally {
      await Deno.remove(path).catch(() => {});
    }
  }
}
