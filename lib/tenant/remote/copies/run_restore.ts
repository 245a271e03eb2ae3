// A restore: closes the database, adds to a copy of the snapshot what must not be forgotten, and notes in the catalogue
// that the database is there now. A restore that has lost its claim on the way moves nothing and opens nothing.
import { AppError } from "../../../core/errors.ts";
import { UNREADABLE_DIGEST } from "../../../sql/service/branch_report.ts";
import { damagedLabel, type Restored, setAsideText } from "../../damage.ts";
import type { RestoreOptions } from "../../snapshots.ts";
import type { LogIdentity } from "../../tenant_store.ts";
import { carryRecords, recordRestore } from "./carry_records.ts";
import type { Catalog, CatalogSnapshot } from "../locations/catalog.ts";
import type { CatalogStatement } from "../locations/catalog_client.ts";
import { RestoreClaim } from "../locations/claims.ts";
import { compareRestore } from "./compare_restore.ts";
import { copied, type LocationKeeper } from "../locations/location_keeper.ts";
import { sizeOfLocation, unlessLost } from "../locations/locations.ts";
import type { RemoteContext } from "../server/remote_context.ts";
import { restart } from "./restart_changes.ts";
import type { RemoteConnection } from "../connection/remote_connection.ts";

/** Labels of the service's own snapshots begin like this; a caller's may not. */
export const AUTOMATIC = "auto-";

export interface RestoreParts {
  readonly context: RemoteContext;
  readonly catalog: Catalog;
  readonly locations: LocationKeeper;
}

export interface LocatedRestore extends RestoreOptions<LogIdentity> {
  /** Where the snapshot is, and where the database shall be. */
  readonly snapshot: string;
  readonly to: string;
  /** Ends the note of the copy. */
  readonly end: CatalogStatement;
}

/**
 * Within `LocationKeeper.copying`. Errors: `database_busy` while another restore is under way, `outcome_unknown` where the
 * answer to its move was lost and nobody can tell, and those of a restore.
 */
export async function runRestore(
  parts: RestoreParts,
  connection: RemoteConnection,
  options: LocatedRestore,
): Promise<Restored> {
  const { catalog, context: { clock } } = parts;
  const { databaseId } = connection;
  const seen = await connection.located();
  const claim = await RestoreClaim.take({ catalog, clock, databaseId }, seen);
  if (claim === null) throw new AppError("database_busy");
  const moving = new MovingRestore(parts, claim, { old: seen.location, databaseId, ...options });
  try {
    await moving.run();
  } catch (error) {
    await claim.end();
    const done = await isDone(parts.context, connection, { claim, next: moving.next });
    // Whoever is told to try again would take away what others have written since it came.
    if (done === null && moving.isInDoubt) throw new AppError("outcome_unknown");
    if (done !== true) throw error;
  } finally {
    await claim.end();
  }
  await connection.moved();
  return moving.restored;
}

class MovingRestore {
  next: string;
  /** The catalogue was asked to move the database, and has not answered. */
  isInDoubt = false;
  restored: Restored = { undo: true, setAside: null };
  #sizeBytes = 0;

  constructor(
    private readonly parts: RestoreParts,
    private readonly claim: RestoreClaim,
    private readonly options: LocatedRestore & { readonly old: string; readonly databaseId: string },
  ) {
    this.next = options.to;
  }

  async run(): Promise<void> {
    const { parts: { context, locations }, claim, options: { old, snapshot, to } } = this;
    const startedMs = context.clock.monotonicMs();
    const nowMs = context.clock.now();
    const isThere = await unlessLost(() => context.platform.block(old, { reads: false, writes: true }));
    this.next = await locations.forkSnapshot(snapshot, to);
    await context.platform.block(this.next, { reads: false, writes: false });
    await this.#fill(isThere, nowMs, startedMs);
    // The old location is closed before the catalogue says that the database has moved: whoever comes there later has to
    // ask where it is, also where this process dies before it can say so. Closed locations can be copied all the same. The
    // claim is checked first: without it somebody else may have opened the location meanwhile.
    await claim.check();
    if (isThere) await context.platform.block(old, { reads: true, writes: true });
    await this.#move(isThere, nowMs);
  }

  async #fill(isThere: boolean, nowMs: number, startedMs: number): Promise<void> {
    const { parts: { context }, next, options: { old, log, rowsWritten, replay, expects } } = this;
    if (expects !== undefined) {
      const effect = isThere ? await compareRestore(context, { present: old, snapshot: next }) : null;
      if ((effect?.digest ?? UNREADABLE_DIGEST) !== expects) throw new AppError("effect_changed");
    }
    const undo = isThere && await unlessLost(async () => {
      await carryRecords(context, { from: old, to: next, nowMs });
      this.#sizeBytes = await sizeOfLocation(context, old);
    });
    this.restored = { undo, setAside: isThere && !undo ? damagedLabel(nowMs) : null };
    await restart(context, { from: undo ? old : null, to: next, nowMs });
    if (!log) return;
    const tablesOf = undo ? [old, next] : [next];
    await recordRestore(context, {
      log: withSetAside(log, this.restored),
      rowsWritten,
      ...(replay === undefined ? {} : { answer: { replay, restored: this.restored } }),
      location: next,
      tablesOf,
      startedMs,
    });
  }

  async #move(isThere: boolean, createdAt: number): Promise<void> {
    const { parts: { catalog }, claim, next, options: { databaseId, end, old, undoLabel } } = this;
    const label = this.restored.setAside ?? undoLabel;
    const automatic = label.startsWith(AUTOMATIC);
    const before = { label, location: old, createdAt, sizeBytes: this.#sizeBytes, automatic };
    await claim.check();
    this.isInDoubt = true;
    const moved = await catalog.change([
      claim.required,
      [
        "UPDATE tenant SET place = ?, generation = generation + 1, closed_until = 0 WHERE database_id = ?",
        [next, databaseId],
      ],
      ...(isThere ? [insertSnapshot(databaseId, before)] : []),
      copied(next),
      end,
    ]);
    this.isInDoubt = false;
    if (!moved) throw new AppError("database_busy");
  }
}

/**
 * Whether a restore that seems to have failed is done, because only an answer was lost; null: nobody can tell now. If not,
 * opens the old location again.
 */
async function isDone(
  { log }: RemoteContext,
  connection: RemoteConnection,
  { claim, next }: { readonly claim: RestoreClaim; readonly next: string },
): Promise<boolean | null> {
  try {
    if (await connection.openAgain(claim)) return false;
    await connection.moved();
    return (await connection.located()).location === next;
  } catch {
    // Whoever comes next finds in the catalogue where it is, or that the claim is over, and then opens it.
    log("warn", "database_left_closed");
    return null;
  }
}

/** The statement that lists a snapshot in the catalogue. */
export function insertSnapshot(databaseId: string, one: CatalogSnapshot): CatalogStatement {
  return ["INSERT INTO snapshot VALUES (?,?,?,?,?,?)", [
    ...[databaseId, one.label, one.location, one.createdAt, one.sizeBytes, one.automatic ? 1 : 0],
  ]];
}

function withSetAside(log: LogIdentity, { setAside }: Restored): LogIdentity {
  return setAside === null ? log : { ...log, sql: log.sql + setAsideText(setAside) };
}
