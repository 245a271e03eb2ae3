// Tests by writing whether tenants' files can be written now, because no system figure shows quotas and permissions.
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";

/** Bytes to write in the test: about a small write with its log. */
const PROBE_BYTES = 64 * 1024;
/** Milliseconds for which a result is reused, because anybody may ask. */
const GOOD_MS = 5_000;
const BAD_MS = 1_000;

/** Tries to write, and remembers the outcome for a moment. */
export class RoomProbe {
  #untilMs = -Infinity;
  #last: Promise<boolean> = Promise.resolve(true);

  constructor(private readonly folder: string, private readonly clock: Clock) {}

  /** Tests the folder. Errors: `storage_full`, for any reason that prevents the write. */
  async check(): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    if (nowMs >= this.#untilMs) {
      // Callers that come meanwhile share the result.
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
