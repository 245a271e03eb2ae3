// Where each database lives and which snapshots it has: a small database on the same server, so that it is as durable as
// the tenants, every process sees the same, and a database moves in one transaction.
import { once } from "../../../core/once.ts";
import type { SnapshotInfo } from "../../snapshots.ts";
import type { LogValues } from "../../log_columns.ts";
import type { CatalogClient, CatalogRow, CatalogStatement } from "./catalog_client.ts";
import { isLost, RemoteFailure, type RemoteReason } from "../hrana/remote_failure.ts";
import { isCutOff, repeat } from "../hrana/repeat.ts";
import type { Mode, RemoteContext } from "../server/remote_context.ts";

/** Where a database is now. `generation` counts its moves. */
export interface LocatedDatabase {
  readonly location: string;
  readonly generation: number;
  /**
   * Unix milliseconds until which whoever restores it, or opens it again, has it alone and may have closed it;
   * 0: nobody has it. By the clock of the catalogue's server.
   */
  readonly closedUntil: number;
  /** Whether somebody had it when it was looked up. */
  readonly isClaimed: boolean;
}

/** A snapshot and where it is. */
export interface CatalogSnapshot extends SnapshotInfo {
  readonly location: string;
}

/** Name of the catalogue's own location. */
const CATALOG_LOCATION = "cubby-catalog";

/** Unix milliseconds as the catalogue's server tells them. */
export const SERVER_NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

const TABLES = [
  `CREATE TABLE IF NOT EXISTS tenant (
  database_id TEXT PRIMARY KEY, place TEXT NOT NULL, generation INTEGER NOT NULL, closed_until INTEGER NOT NULL
) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS snapshot (
  database_id TEXT NOT NULL, label TEXT NOT NULL, place TEXT NOT NULL, created_at INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL, automatic INTEGER NOT NULL, PRIMARY KEY (database_id, label)
) WITHOUT ROWID`,
  // The state in which a branch began.
  "CREATE TABLE IF NOT EXISTS ancestor (database_id TEXT PRIMARY KEY, place TEXT NOT NULL) WITHOUT ROWID",
  // Orphaned locations: those that are being made, with the time, and those to be removed at once, with 0. What a crash
  // leaves behind is among them.
  "CREATE TABLE IF NOT EXISTS loose (place TEXT PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID",
  // Copies that may be under way, and until when somebody may be removing: see `LocationTurns`.
  "CREATE TABLE IF NOT EXISTS copying (place TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS removal (id INTEGER PRIMARY KEY, until INTEGER NOT NULL, turn TEXT NOT NULL)",
  "INSERT OR IGNORE INTO removal VALUES (1, 0, '')",
];

const COUNT = "SELECT 1 + (SELECT count(*) FROM tenant) + (SELECT count(*) FROM ancestor) + " +
  "(SELECT count(*) FROM snapshot) + (SELECT count(*) FROM loose)";

/** Milliseconds in which a request is repeated, and times; milliseconds before the first repetition. */
const RETRY_WITHIN_MS = 1000;
const MAX_RETRIES = 3;
const FIRST_PAUSE_MS = 10;
/** What is said before a request runs, where asking again can help. */
const ASKED_AGAIN: readonly RemoteReason[] = ["gone", "not_sent"];

/** The catalogue of one server. */
export class Catalog {
  readonly #open = once(() => this.#make());
  /** Settles when the last change has ended: several writers at once make sqld slower, and some it refuses. */
  #changing: Promise<unknown> = Promise.resolve();

  constructor(private readonly context: RemoteContext) {}

  /** Null: there is no such database. */
  async find(databaseId: string): Promise<LocatedDatabase | null> {
    const [row] = await this.select(
      `SELECT place, generation, closed_until, closed_until > ${SERVER_NOW} FROM tenant WHERE database_id = ?`,
      [databaseId],
    );
    if (!row) return null;
    return {
      location: String(row[0]),
      generation: Number(row[1]),
      closedUntil: Number(row[2]),
      isClaimed: Number(row[3]) === 1,
    };
  }

  /** Newest first. */
  async snapshots(databaseId: string): Promise<CatalogSnapshot[]> {
    const rows = await this.select(
      "SELECT label, place, created_at, size_bytes, automatic FROM snapshot WHERE database_id = ? " +
        "ORDER BY created_at DESC, place DESC",
      [databaseId],
    );
    return rows.map((row) => ({
      label: String(row[0]),
      location: String(row[1]),
      createdAt: Number(row[2]),
      sizeBytes: Number(row[3]),
      automatic: Number(row[4]) === 1,
    }));
  }

  /** Location of the state in which a branch began; null: it is no branch. */
  async ancestorOf(databaseId: string): Promise<string | null> {
    const [row] = await this.select("SELECT place FROM ancestor WHERE database_id = ?", [databaseId]);
    return row ? String(row[0]) : null;
  }

  /** All locations that belong to a database: its own, its ancestor's, its snapshots'. */
  async locationsOf(databaseId: string): Promise<string[]> {
    const rows = await this.select(
      ["tenant", "ancestor", "snapshot"].map((table) => `SELECT place FROM ${table} WHERE database_id = ?1`)
        .join(" UNION ALL "),
      [databaseId],
    );
    return rows.map((row) => String(row[0]));
  }

  /** Ids of databases with a snapshot from before then. */
  async databasesWithSnapshotsBefore(unixMs: number): Promise<string[]> {
    const rows = await this.select("SELECT DISTINCT database_id FROM snapshot WHERE created_at < ?", [
      unixMs,
    ]);
    return rows.map((row) => String(row[0]));
  }

  /** Makes all changes or none: the rows that each has changed, or the number that it returns. False: a row is there already. Throws `RemoteFailure`. */
  change(statements: readonly CatalogStatement[]): Promise<readonly number[] | false> {
    const changed = this.#changing.then(() => this.#ask("write", (client) => client.change(statements)));
    this.#changing = changed.catch(() => {});
    return changed;
  }

  /**
   * Whether the change was made, by this call or before. `isMade` tells by what is there, where the answer was lost or a row
   * is there already. Throws `RemoteFailure`.
   */
  async made(statements: readonly CatalogStatement[], isMade: () => Promise<boolean>): Promise<boolean> {
    try {
      if (await this.change(statements)) return true;
    } catch (error) {
      if (error instanceof RemoteFailure && await isMade().catch(() => false)) return true;
      throw error;
    }
    return await isMade();
  }

  /** Counts all locations, its own among them; unless `counted`, only asks whether the catalogue answers. Throws `RemoteFailure`. */
  async countLocations(counted: boolean): Promise<number> {
    const [row] = await this.select(counted ? COUNT : "SELECT 1", []);
    return Number(row?.[0] ?? 0);
  }

  /** Rows of one statement that only reads. Throws `RemoteFailure`. */
  select(sql: string, params: LogValues): Promise<readonly CatalogRow[]> {
    return this.#ask("read", (client) => client.select([sql, params]));
  }

  /** Asks again where nothing can have run, because the catalogue never moves; a read also where that is not known. */
  async #ask<T>(mode: Mode, ask: (client: CatalogClient) => Promise<T>): Promise<T> {
    const { clock } = this.context;
    const untilMs = clock.monotonicMs() + RETRY_WITHIN_MS;
    try {
      const client = await this.#open();
      const answer = repeat(() => ask(client), (error, attempt) => {
        const inTime = attempt < MAX_RETRIES && clock.monotonicMs() < untilMs;
        const again = inTime && error instanceof RemoteFailure &&
          (ASKED_AGAIN.includes(error.reason) || mode === "read" && attempt === 0 && isCutOff(error));
        return again ? FIRST_PAUSE_MS * 4 ** attempt : null;
      });
      // Of two questions one may go on, with pauses in which no request is under way, behind the failure of the other.
      return await this.context.underWay.note(answer);
    } catch (error) {
      throw notMoving(error);
    }
  }

  get location(): string {
    return this.context.catalogLocation ?? CATALOG_LOCATION;
  }

  /** Makes the catalogue where it is not there. The client is loaded by the processes that need it. */
  async #make(): Promise<CatalogClient> {
    const { CatalogClient } = await import("./catalog_client.ts");
    const client = new CatalogClient(this.context, this.location);
    if (this.context.knowsDatabases) await this.#requireThere(client);
    await this.context.platform.create(this.location);
    await client.run(TABLES);
    return client;
  }

  /**
   * Of databases that the control plane knows, a new catalogue would say that all are damaged, and new ones would be made on a
   * server that has no other. Throws `RemoteFailure`.
   */
  async #requireThere(client: CatalogClient): Promise<void> {
    try {
      await client.select(["SELECT 1", []]);
    } catch (error) {
      if (!isLost(error)) throw error;
      this.context.log("error", "tenants_catalogue_missing", {
        variable: "TENANTS_URL",
        name: this.location,
      });
      throw new RemoteFailure("unreachable", "the catalogue is not there");
    }
  }
}

/** The catalogue never moves: somebody else has closed it. */
function notMoving(error: unknown): unknown {
  const blocked = error instanceof RemoteFailure && error.reason === "blocked";
  return blocked ? new RemoteFailure("over_quota") : error;
}
