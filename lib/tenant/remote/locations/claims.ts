// Claims of databases: while one lasts, nobody else closes, moves or opens the database. That of a restore is short and
// renewed, so that a database whose restorer has died is open again soon. The catalogue's server tells the time.
//
// The number in the catalogue (`closed_until`) says until when a claim lasts, and also whose it is. A renewal whose answer
// was lost has made the number larger, but by less than a claim lasts. Anybody else can take the database only after that
// time, and then makes the number larger by at least as much. So a holder recognises its own claim by a range.
import { AppError } from "../../../core/errors.ts";
import type { Clock } from "../../../core/clock.ts";
import { type Catalog, type LocatedDatabase, SERVER_NOW } from "./catalog.ts";
import type { CatalogStatement } from "./catalog_client.ts";

/** Milliseconds that a claim to restore lasts, and between its renewals. */
const RESTORE_MS = 10_000;
const RENEW_MS = 2500;
/** Milliseconds after which a claim is renewed before its holder acts by it. */
const FRESH_MS = 5000;
/** Milliseconds that opening a closed database may take: more than its requests take until they are given up. */
const OPENING_MS = 60_000;

const SET = `UPDATE tenant SET closed_until = max(${SERVER_NOW} + ?, closed_until + 1) ` +
  "WHERE database_id = ? AND generation = ? AND ";
/** The claim is the one that was seen, and its time is over. */
const FREE = `closed_until = ? AND closed_until <= ${SERVER_NOW}`;
const OWN = `closed_until BETWEEN ? AND ? + ${RESTORE_MS - 1}`;

interface Parts {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly databaseId: string;
}

export class RestoreClaim {
  #lost = false;
  #timer: ReturnType<typeof setInterval> | null;
  #renewing: Promise<void> | null = null;

  private constructor(
    private readonly parts: Parts,
    private readonly seen: LocatedDatabase,
    private until: number,
    /** By the monotonic clock: the claim was given later than that. */
    private sinceMs: number,
  ) {
    this.#timer = setInterval(() => {
      // Whoever acts by it next renews it again.
      this.#renew().catch(() => {});
    }, RENEW_MS);
  }

  /** Null: somebody else has a claim, or the database is not as it was seen. Throws `RemoteFailure`. */
  static async take(parts: Parts, seen: LocatedDatabase): Promise<RestoreClaim | null> {
    const sinceMs = parts.clock.monotonicMs();
    const { databaseId } = parts;
    const values = [RESTORE_MS, databaseId, seen.generation, seen.closedUntil];
    const until = await taken(parts.catalog, [`${SET}${FREE} RETURNING closed_until`, values]);
    return until === null ? null : new RestoreClaim(parts, seen, until, sinceMs);
  }

  /** Call before each step that others notice. Errors: `database_busy` where the claim is lost. Throws `RemoteFailure`. */
  async check(): Promise<void> {
    if (this.parts.clock.monotonicMs() - this.sinceMs > FRESH_MS) await this.#renew();
    if (this.#lost) throw new AppError("database_busy");
  }

  /** A statement that fails, and with it the whole change, unless the database is there and the claim is not lost. */
  get required(): CatalogStatement {
    return [unlessThere(`AND ${OWN}`), [this.parts.databaseId, this.until, this.until]];
  }

  /** Stops the renewals, and waits for the one under way. */
  async end(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#renewing?.catch(() => {});
  }

  /** Turns the claim into one to open the database; null where it is lost. Throws `RemoteFailure`. */
  async toOpen(): Promise<LocatedDatabase | null> {
    const { parts: { catalog, databaseId }, seen, until } = this;
    const values = [OPENING_MS, databaseId, seen.generation, until, until];
    const closedUntil = await taken(catalog, [`${SET}${OWN} RETURNING closed_until`, values]);
    return closedUntil === null ? null : { ...seen, closedUntil };
  }

  #renew(): Promise<void> {
    return this.#renewing ??= this.#renewOnce().finally(() => this.#renewing = null);
  }

  async #renewOnce(): Promise<void> {
    const { parts: { catalog, clock, databaseId }, seen } = this;
    const sinceMs = clock.monotonicMs();
    const values = [RESTORE_MS, databaseId, seen.generation, this.until, this.until];
    const until = await taken(catalog, [`${SET}${OWN} RETURNING closed_until`, values]);
    if (until === null) this.#lost = true;
    else [this.until, this.sinceMs] = [until, sinceMs];
  }
}

/** Claims a database that a dead restore has closed, to open it; null: it is not as it was seen, or claimed. Throws `RemoteFailure`. */
export async function claimToOpen(
  catalog: Catalog,
  databaseId: string,
  seen: LocatedDatabase,
): Promise<LocatedDatabase | null> {
  const values = [OPENING_MS, databaseId, seen.generation, seen.closedUntil];
  const closedUntil = await taken(catalog, [`${SET}${FREE} RETURNING closed_until`, values]);
  return closedUntil === null ? null : { ...seen, closedUntil };
}

/** Ends a claim to open. Throws `RemoteFailure`. */
export async function giveBack(
  catalog: Catalog,
  databaseId: string,
  { generation, closedUntil }: LocatedDatabase,
): Promise<void> {
  await catalog.change([[
    "UPDATE tenant SET closed_until = 0 WHERE database_id = ? AND generation = ? AND closed_until = ?",
    [databaseId, generation, closedUntil],
  ]]);
}

/** A statement that fails, and with it the whole change, unless the database is there. */
export function requireDatabase(databaseId: string): CatalogStatement {
  return [unlessThere(""), [databaseId]];
}

function unlessThere(condition: string): string {
  return "INSERT INTO removal SELECT id, until, turn FROM removal WHERE NOT EXISTS (SELECT 1 FROM tenant " +
    `WHERE database_id = ? ${condition})`;
}

async function taken(catalog: Catalog, statement: CatalogStatement): Promise<number | null> {
  const changed = await catalog.change([statement]);
  const [until = 0] = changed || [];
  return until === 0 ? null : until;
}
