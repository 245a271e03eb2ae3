// One database of a remote store as this process knows it: where it is, what its schema is, and how it is spoken to.
import { AppError } from "../../../core/errors.ts";
import type { Catalog, LocatedDatabase } from "../locations/catalog.ts";
import { claimToOpen, giveBack, RestoreClaim } from "../locations/claims.ts";
import type { GateAsker } from "../gate/gate_thread.ts";
import { type SchemaGate, schemaGate } from "../gate/schema_gate.ts";
import type { BatchAnswer, BatchRequest, HranaStep, StepResult } from "../hrana/hrana.ts";
import type { SendOptions } from "../hrana/hrana_client.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";
import { integerOf } from "../hrana/remote_values.ts";
import type { PooledStream, StreamTarget } from "../hrana/stream_pool.ts";
import { readSchema } from "./read_schema.ts";
import { fitsMessage } from "../hrana/stream_sockets.ts";
import {
  closeStream,
  type Mode,
  OWN_TIMEOUT_MS,
  type RemoteContext,
  rowsAt,
  runOwn,
  send,
} from "../server/remote_context.ts";
import { VERSION } from "./write_steps.ts";

/** Schema versions of one location: above them stands the generation, so that no number ever means two schemas. */
const VERSIONS = 2 ** 32;
/** Milliseconds after which a database that is closed is asked for again. */
const CLOSED_PAUSE_MS = 250;
/** Milliseconds in which a database that was opened again must answer, and in which it is not opened once more. */
const OPENING_MS = 1000;
const OPENED_MS = 10_000;

/** What is known lives until somebody finds that it is so no more. */
export class RemoteConnection {
  #located: Promise<LocatedDatabase> | null = null;
  /** Wherever it was found: it may move more than once while a request is on its way. */
  readonly #locations = new Set<string>();
  #schemaGate: Promise<SchemaGate> | null = null;
  /** When it was last opened after something had closed it. */
  #openedMs = 0;
  #isDropped = false;
  readonly asker: GateAsker;

  constructor(
    readonly context: RemoteContext,
    private readonly catalog: Catalog,
    readonly databaseId: string,
  ) {
    this.asker = { namespaceId: databaseId, databaseId };
  }

  get isDropped(): boolean {
    return this.#isDropped;
  }

  /** From now on whoever asks where it is gets `store_unavailable`. */
  drop(): void {
    this.#isDropped = true;
  }

  /** Errors: `store_unavailable` where there is no such database (any more). */
  located(): Promise<LocatedDatabase> {
    if (this.#isDropped) return Promise.reject(new AppError("store_unavailable"));
    const found = this.#located ??= this.#find();
    return found.catch((error) => {
      if (this.#located === found) this.#located = null;
      throw error;
    });
  }

  /** One round trip to where the database is. Throws `RemoteFailure`. */
  async send(mode: Mode, request: BatchRequest, options: SendOptions): Promise<BatchAnswer> {
    const { location } = await this.located();
    return await this.#sendTo({ location, mode }, request, options);
  }

  /** The service's own statements on a stream that is closed behind them. Throws `RemoteFailure`. */
  async runOwn(mode: Mode, steps: readonly HranaStep[]): Promise<readonly StepResult[]> {
    const { location } = await this.located();
    return await runOwn(this.context, { location, mode }, steps);
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
    const kept = this.#kept(stream, baton, steps, options);
    try {
      const stays = kept !== baton;
      return await this.#sendTo(stream, { steps, baton: kept, close: false }, { ...options, stays });
    } catch (error) {
      if (!(error instanceof RemoteFailure)) throw error;
      const isOver = kept !== null && ["lost_stream", "gone"].includes(error.reason);
      if (!isOver && !error.more.cutSocket) throw error;
      return await this.#sendTo(stream, { steps, baton: null, close: false }, options);
    }
  }

  /**
   * The baton with which a batch goes out. A stream that is used again gets a socket, and what is too long for one goes by
   * HTTP: either way the stream is closed, and the batch opens another.
   */
  #kept(
    target: StreamTarget,
    baton: string | null,
    steps: readonly HranaStep[],
    { binary = false }: SendOptions,
  ): string | null {
    const { sockets } = this.context;
    if (!sockets || baton === null) return baton;
    const fits = !binary && fitsMessage(steps);
    const moves = sockets.carries(baton) ? !fits : fits && sockets.areOpened;
    if (!moves) return baton;
    closeStream(this.context, { ...target, baton });
    return null;
  }

  /** Asks the catalogue again where the database is; false: it is where it was. `asked`: where others may have asked before. */
  async moved(asked: string | null = null): Promise<boolean> {
    const before = await this.#located?.catch(() => null);
    this.#located = null;
    const now = await this.located();
    if (before?.location === now.location) return asked !== now.location && this.#locations.has(asked ?? "");
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

  /**
   * Milliseconds after which a database that was found closed may be asked for again; it is opened where whoever closed it
   * has not lived to do so. Errors: `store_over_quota` where the service has not closed it.
   */
  async pauseWhileClosed(asked: string | null): Promise<number> {
    if (await this.moved(asked)) return 0;
    const seen = await this.located();
    const nowMs = this.context.clock.now();
    const openMs = Math.abs(nowMs - this.#openedMs);
    if (seen.isClaimed || openMs < OPENING_MS) return CLOSED_PAUSE_MS;
    if (openMs < OPENED_MS) throw new AppError("store_over_quota");
    if (!await this.openAgain(seen)) return CLOSED_PAUSE_MS;
    this.#openedMs = nowMs;
    return 0;
  }

  /** The schema as it was last seen; a statement that runs tells whether it still is. */
  schemaGate(): Promise<SchemaGate> {
    if (this.#isDropped) return Promise.reject(new AppError("store_unavailable"));
    const found = this.#schemaGate ??= this.#readSchema();
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

  /** The schema of now: asks the engine for its version first. */
  async freshSchemaGate(): Promise<SchemaGate> {
    const steps = await this.runOwn("read", [{ stmt: { sql: VERSION } }]);
    await this.seen(integerOf(rowsAt(steps, 0)[0]?.[0]));
    return await this.schemaGate();
  }

  async #sendTo(to: StreamTarget, request: BatchRequest, options: SendOptions): Promise<BatchAnswer> {
    const { location, mode } = to;
    try {
      return await send(this.context, { location, mode }, request, options);
    } catch (error) {
      const baton = error instanceof RemoteFailure ? error.more.baton ?? null : null;
      // Left open, its transaction would hold the write lock until the server gives it up.
      if (baton !== null) await this.#abandon({ location, mode }, baton);
      throw error;
    }
  }

  async #abandon(target: StreamTarget, baton: string): Promise<void> {
    const request = { steps: [{ stmt: { sql: "ROLLBACK" } }], baton, close: true };
    const signal = AbortSignal.timeout(OWN_TIMEOUT_MS);
    await send(this.context, target, request, { signal }).catch(() => {});
  }

  async #find(): Promise<LocatedDatabase> {
    const found = await this.catalog.find(this.databaseId);
    if (!found) throw new AppError("store_unavailable");
    this.#locations.add(found.location);
    return found;
  }

  #again(broken: Promise<SchemaGate>): Promise<SchemaGate> {
    if (this.#schemaGate === broken) this.#schemaGate = null;
    return this.schemaGate();
  }

  async #readSchema(): Promise<SchemaGate> {
    const { location, generation } = await this.located();
    const schema = await readSchema(this.context, location);
    return await schemaGate(generation * VERSIONS + schema.engineVersion, schema, this);
  }
}
