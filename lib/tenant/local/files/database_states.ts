// Whether an embedded database can be read, from its file's size and first bytes and from what engine children have
// reported since it was last restored.
import type { Clock } from "../../../core/clock.ts";
import type { DatabaseState, DatabaseStorage } from "../../damage.ts";
import type { Reply } from "../child/protocol.ts";
import { databasePath, sizeOf } from "./tenant_paths.ts";
import { putNewest } from "../../../core/put_newest.ts";

/** The first bytes of every SQLite file. */
const MAGIC = "SQLite format 3\u0000";
/** Milliseconds for which a child's report is valid, because somebody may repair or replace the file from outside. */
const REPORT_MS = 600_000;
/** The most databases whose damage is remembered; a further one takes the place of the oldest report. */
const MAX_REPORTS = 10_000;

/** The states of all databases. */
export class DatabaseStates {
  /** When the report of damage expires, by the monotonic clock. */
  readonly #reported = new Map<string, number>();

  constructor(private readonly tenants: string, private readonly clock: Clock) {}

  /** Notes that a child has found damage in the database's file. */
  reportDamage(databaseId: string): void {
    putNewest(this.#reported, databaseId, this.clock.monotonicMs() + REPORT_MS, MAX_REPORTS);
  }

  /** Forgets reported damage, because the database has a new file. */
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
    // Where not even the file's size can be read, the database's state is unknown.
    return { sizeBytes, state: state === "ok" && sizes.includes(null) ? "unavailable" : state };
  }

  /** A file that permissions close to this process is `unavailable`, not damaged. */
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

/** Whether a reply reports damage. */
export function tellsDamage(reply: Reply): boolean {
  if (reply.t === "outcomes") return reply.o.some((one) => one.k === "failed" && one.f.kind === "corrupt");
  return (reply.t === "failed" || reply.t === "inspected") && reply.f?.kind === "corrupt";
}
