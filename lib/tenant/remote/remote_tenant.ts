// One database of a remote store as this process knows it: where it is, what its schema is, which log rows wait.
import { AppError } from "../../core/errors.ts";
import { claimToOpen, giveBack, RestoreClaim } from "./claims.ts";
import { isOldTable } from "../../sql/service_tables.ts";
import type { Catalog, LocatedDatabase } from "./catalog.ts";
import { gateEngine } from "./gate/gate_engine.ts";
import type { BatchAnswer, BatchRequest, HranaStep, StepResult } from "./hrana/hrana.ts";
import type { SendOptions } from "./hrana/hrana_client.ts";
import type { PooledStream, StreamTarget } from "./hrana/stream_pool.ts";
import { type Mode, OWN_TIMEOUT_MS, type RemoteContext, rowsAt, runOwn, send } from "./remote_context.ts";
import { RemoteFailure } from "./hrana/remote_failure.ts";
import { LogBuffer } from "../log_buffer.ts";
import { integerOf, stringOf } from "./hrana/remote_values.ts";
import { upgradeTables } from "./upgrade_tables.ts";
import { SchemaGate } from "./gate/schema_gate.ts";
import { VERSION } from "./write_steps.ts";

/** Schema versions of one location: above them stands the generation, so that no number ever means two schemas. */
const VERSIONS = 2 ** 32;

const SCHEMA = [
  "BEGIN",
  VERSION,
  "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!' " +
  "AND name NOT LIKE 'libsql!_%' ESCAPE '!' " +
  "AND name NOT IN (SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow') " +
  "ORDER BY type = 'trigger', type = 'view', type = 'index', rowid",
  "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'",
  "COMMIT",
].map((sql) => ({ stmt: { sql } }));

/** What this process knows about one database. */
export class RemoteTenant {
  dropped = false;
  /** When rows that are too old were last deleted. */
  prunedMs = -Infinity;
  /** When it was last opened after something had closed it. */
  openedMs = 0;
  /** Log rows that wait. */
  readonly log: LogBuffer;
  #location: Promise<LocatedDatabase> | null = null;
  #schemaGate: Promise<SchemaGate> | null = null;

  constructor(
    readonly context: RemoteContext,
    private readonly catalog: Catalog,
    readonly databaseId: string,
  ) {
    this.log = new LogBuffer(context.logBytes);
  }

  /** Errors: `store_unavailable` where there is no such database (any more). */
  located(): Promise<LocatedDatabase> {
    if (this.dropped) return Promise.reject(new AppError("store_unavailable"));
    const found = this.#location ??= this.#find();
    return found.catch((error) => {
      if (this.#location === found) this.#location = null;
      throw error;
    });
  }

  /** One round trip to where the database is. Throws `RemoteFailure`. */
  async send(mode: Mode, request: BatchRequest, options: SendOptions): Promise<BatchAnswer> {
    const { location } = await this.located();
    return await this.#sendTo({ location, mode }, request, options);
  }

  /** Work on a stream that earlier work has left open, or that it leaves open; null: there is none to be had. */
  async onStream<T>(mode: Mode, work: (stream: PooledStream | null) => Promise<T>): Promise<T> {
    const { streamPool } = this.context;
    const { location } = await this.located();
    const stream = await streamPool?.take({ location, mode });
    if (!streamPool || !stream) return await work(null);
    try {
      return await work(stream);
    } finally {
      streamPool.give(stream);
    }
  }

  /**
   * The first batch on a stream, which is taken out of it: whoever leaves it without a transaction puts the answer's
   * baton back. The server may have closed it meanwhile; nothing ran then. Throws `RemoteFailure`.
   */
  async sendFirst(
    stream: PooledStream,
    steps: readonly HranaStep[],
    options: SendOptions,
  ): Promise<BatchAnswer> {
    const { baton } = stream;
    stream.baton = null;
    try {
      return await this.#sendTo(stream, { steps, baton, close: false }, options);
    } catch (error) {
      const isOver = error instanceof RemoteFailure && ["lost_stream", "gone"].includes(error.reason);
      if (baton === null || !isOver) throw error;
      return await this.#sendTo(stream, { steps, baton: null, close: false }, options);
    }
  }

  /** Looks again where the database is; false: it is where it was. */
  async moved(): Promise<boolean> {
    const before = await this.#location?.catch(() => null);
    this.#location = null;
    const now = await this.located();
    if (before && before.location === now.location) return false;
    this.forgetSchema();
    return true;
  }

  /**
   * Opens a database that a restore has closed and will not move. False: it is not as it was seen any more, and not ours
   * to open. An opening that comes late would open a location that another restore has closed or left, and what is then
   * written there is lost. So the database is claimed first and given back last. What ends on the way, or is lost:
   *
   * - the request for the claim: closed until the restore's claim is over;
   * - the answer to it, or the request to open: closed until this claim is over. It is not given back, because that
   *   request may still come;
   * - the answer to that one, or the request to give it back: open, but no restore begins until this claim is over;
   * - the answer to the last one: nothing is left to do.
   *
   * Whoever finds it closed when a claim is over opens it in the same way. Throws `RemoteFailure`.
   */
  async openAgain(seen: LocatedDatabase | RestoreClaim): Promise<boolean> {
    const { catalog, context, databaseId } = this;
    const claimed =
      await (seen instanceof RestoreClaim ? seen.toOpen() : claimToOpen(catalog, databaseId, seen));
    if (claimed === null) return false;
    await context.platform.block(claimed.location, { reads: false, writes: false });
    await giveBack(catalog, databaseId, claimed);
    return true;
  }

  /** The schema as it was last seen; a statement that runs tells whether it still is. */
  schemaGate(): Promise<SchemaGate> {
    if (this.dropped) return Promise.reject(new AppError("store_unavailable"));
    const found = this.#schemaGate ??= this.#read();
    return found.then((schemaGate) => schemaGate.broken ? this.#again(found) : schemaGate, (error) => {
      if (this.#schemaGate === found) this.#schemaGate = null;
      throw error;
    });
  }

  /** What the engine has just said about its schema: a change makes what is known void. */
  async seen(engineVersion: number): Promise<void> {
    const known = await this.#schemaGate?.catch(() => null);
    if (known && known.schema.engineVersion !== engineVersion) this.forgetSchema();
  }

  forgetSchema(): void {
    // Whoever works with it at this moment finishes; the garbage collector closes it.
    this.#schemaGate = null;
  }

  /** Reads the schema version and makes sure that the schemaGate is of that version. */
  async freshSchemaGate(): Promise<SchemaGate> {
    const { location } = await this.located();
    const steps = await runOwn(this.context, { location, mode: "read" }, [{ stmt: { sql: VERSION } }]);
    await this.seen(integerOf(rowsAt(steps, 0)[0]?.[0]));
    return await this.schemaGate();
  }

  async #sendTo(
    { location, mode }: StreamTarget,
    request: BatchRequest,
    options: SendOptions,
  ): Promise<BatchAnswer> {
    try {
      return await send(this.context, { location, mode }, request, options);
    } catch (error) {
      const baton = error instanceof RemoteFailure ? error.more.baton ?? null : null;
      // Left open, its transaction would hold the write lock until the server gives it up.
      if (baton !== null) await this.#abandon({ location, mode }, baton);
      throw error;
    }
  }

  async #abandon(target: { readonly location: string; readonly mode: Mode }, baton: string): Promise<void> {
    const request = { steps: [{ stmt: { sql: "ROLLBACK" } }], baton, close: true };
    await send(this.context, target, request, { signal: AbortSignal.timeout(OWN_TIMEOUT_MS) }).catch(
      () => {},
    );
  }

  async #find(): Promise<LocatedDatabase> {
    const found = await this.catalog.find(this.databaseId);
    if (!found) throw new AppError("store_unavailable");
    return found;
  }

  #again(broken: Promise<SchemaGate>): Promise<SchemaGate> {
    if (this.#schemaGate === broken) this.#schemaGate = null;
    return this.schemaGate();
  }

  /** Of tables in the form of this version. */
  async #readCurrent(location: string): Promise<readonly StepResult[]> {
    const read = () => runOwn(this.context, { location, mode: "read" }, SCHEMA);
    const steps = await read();
    const isOld = rowsAt(steps, 2).some(([sql]) => isOldTable(stringOf(sql)));
    return isOld && await upgradeTables(this.context, location) ? await read() : steps;
  }

  async #read(): Promise<SchemaGate> {
    const { location, generation } = await this.located();
    const steps = await this.#readCurrent(location);
    const engineVersion = integerOf(rowsAt(steps, 1)[0]?.[0]);
    const schema = {
      engineVersion,
      statements: rowsAt(steps, 2).map((row) => stringOf(row[0])),
      analyzed: rowsAt(steps, 3).length > 0,
    };
    const open = await gateEngine(this.context.gateEngine, schema.statements);
    return new SchemaGate(generation * VERSIONS + engineVersion, schema, open);
  }
}
