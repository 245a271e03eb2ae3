// Whether an embedded database can be read: what its file looks like from outside, and what engine children have said of
// it since it was last restored.
import type { Clock } from "../../core/clock.ts";
import type { DatabaseState, DatabaseStorage } from "../damage.ts";
import type { Reply } from "./child/protocol.ts";
import { databasePath, sizeOf } from "./tenant_paths.ts";

/** How every SQLite file begins. */
const MAGIC = "SQLite format 3\u0000";
/** Milliseconds for which a child's word stands: a file may be mended or replaced from outside. */
const REPORT_MS = 600_000;
/** Databases whose damage is remembered. */
const MAX_REPORTS = 10_000;

/** The states of all databases. */
export class DatabaseStates {
  /** Until when, by the monotonic clock. */
  readonly #reported = new Map<string, number>();

  constructor(private readonly tenants: string, private readonly clock: Clock) {}

  /** A child has met damage in the database's file. */
  reportDamage(databaseId: string): void {
    this.#reported.delete(databaseId);
    if (this.#reported.size >= MAX_REPORTS) return;
    this.#reported.set(databaseId, this.clock.monotonicMs() + REPORT_MS);
  }

  /** It has a new file. */
  forget(databaseId: string): void {
    this.#reported.delete(databaseId);
  }

  isReported(databaseId: string): boolean {
    const untilMs = this.#reported.get(databaseId);
    if (untilMs === undefined) return false;
    if (this.clock.monotonicMs() < untilMs) return true;
    this.#reported.delete(databaseId);
    return false;
  }

  async storageOf(databaseId: string): Promise<DatabaseStorage> {
    const path = databasePath(this.tenants, databaseId);
    const [state, ...sizes] = await Promise.all([
      this.#stateOf(databaseId, path),
      ...[path, `${path}-wal`].map((file) => sizeOf(file).catch(() => null)),
    ]);
    const sizeBytes = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
    // A file of which not even the size can be told is not known to be well.
    return { sizeBytes, state: state === "ok" && sizes.includes(null) ? "unavailable" : state };
  }

  /** A file that another process's permissions close is `unavailable`, and no damage. */
  async #stateOf(databaseId: string, path: string): Promise<DatabaseState> {
    if (this.isReported(databaseId)) return "corrupt";
    try {
      using file = await Deno.open(path, { read: true });
      const head = new Uint8Array(MAGIC.length);
      const length = await file.read(head);
      return length === MAGIC.length && new TextDecoder().decode(head) === MAGIC ? "ok" : "corrupt";
    } catch (error) {
      return error instanceof Deno.errors.NotFound ? "corrupt" : "unavailable";
    }
  }
}

/** Whether a child has met damage. */
export function tellsDamage(reply: Reply): boolean {
  if (reply.t === "outcomes") return reply.o.some((one) => one.k === "failed" && one.f.kind === "corrupt");
  return (reply.t === "failed" || reply.t === "inspected") && reply.f?.kind === "corrupt";
}
