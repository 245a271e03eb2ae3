// Branches of remote databases: forks with a fork of their own as the state they began in.
import type { DatabaseIds } from "../../core/database_ids.ts";
import type { BranchDiff } from "../../sql/service/branch_report.ts";
import { AppError } from "../../core/errors.ts";
import { PLAIN_ROWS, type RowForm } from "../../sql/words/row_form.ts";
import { type Compared, type CompareOptions, compareSides } from "../branches/compare_sides.ts";
import type { OpenTrial } from "../branches/trial_database.ts";
import type { Reading } from "../branches/row_pages.ts";
import type { BranchMerge, BranchStore, MergeOutcome } from "../branch_store.ts";
import type { EngineFailure } from "../../engine/engine_failure.ts";
import type { LogIdentity } from "../tenant_store.ts";
import { invalidText } from "../calls/call_run.ts";
import type { Catalog } from "./locations/catalog.ts";
import { gateEngine } from "./gate/gate_engine.ts";
import type { LocationKeeper } from "./locations/location_keeper.ts";
import type { RemoteTenant } from "./remote_tenant.ts";
import { reachable, untilAnswered } from "./connection/until_answered.ts";
import { OWN_TIMEOUT_MS, type RemoteContext, send } from "./server/remote_context.ts";
import { RemoteFailure } from "./hrana/remote_failure.ts";
import { locationOf } from "./locations/locations.ts";
import type { RemoteSnapshots } from "./copies/remote_snapshots.ts";
import type { RemoteConnection } from "./connection/remote_connection.ts";
import { schemaTexts } from "./connection/read_schema.ts";
import { type MergeParts, RemoteMerge } from "./copies/remote_merge.ts";
import { runRemotely, SideStream, StatementFailed } from "./copies/side_stream.ts";
import { withAnyTexts } from "./copies/with_any_texts.ts";

/** Fills a new database, at the location given or beside it, and tells where it is and where its ancestor. */
export type Fill = (
  location: string,
) => Promise<{ readonly location: string; readonly ancestor: string | null }>;

/** What the store lends to its branches. */
export interface BranchHost {
  readonly context: RemoteContext;
  readonly catalog: Catalog;
  readonly snapshots: RemoteSnapshots;
  readonly locations: LocationKeeper;
  tenant(databaseId: string): RemoteTenant;
  /** Makes a database out of what `fill` has put at its location and, as its ancestor, at another one. */
  makeBranch(databaseId: string, ancestor: string, fill: Fill): Promise<void>;
}

/** Bytes of changed rows that a merge does not read a second time, about. */
const HELD_BYTES = 64_000_000;

/** The branches of this store. */
export class RemoteBranches implements BranchStore<LogIdentity, EngineFailure> {
  constructor(private readonly host: BranchHost) {}

  make({ databaseId }: DatabaseIds, trunkId: string): Promise<void> {
    const { snapshots, locations } = this.host;
    return reachable(() => {
      const trunk = this.host.tenant(trunkId);
      const ancestor = `${locationOf(databaseId)}-ancestor`;
      return this.host.makeBranch(databaseId, ancestor, async (location) => {
        const copy = () => snapshots.copy(trunk.connection, { snapshot: null }, ancestor);
        const began = await trunk.inSlot(copy);
        // From the copy, which nobody writes: so both are the same, and the trunk's writers wait for one fork only.
        return { location: await locations.fork(began, location), ancestor: began };
      });
    });
  }

  diff(
    { databaseId }: DatabaseIds,
    rowForm: RowForm = PLAIN_ROWS,
  ): Promise<{ readonly diff: BranchDiff; readonly rowsRead: number }> {
    return this.#retried({ branchId: databaseId, trunkId: null }, async (connection, reading) => {
      const { diff, rowsRead } = await this.#onBranch(
        connection,
        null,
        { holdBytes: 0, rowForm, reading },
        (_, compared) => Promise.resolve(compared),
      );
      return { diff, rowsRead };
    });
  }

  merge(
    { databaseId }: DatabaseIds,
    merge: BranchMerge<LogIdentity>,
  ): Promise<MergeOutcome<EngineFailure>> {
    const { snapshots, context } = this.host;
    const sides = { branchId: merge.branchId, trunkId: databaseId };
    let earlier: RemoteMerge | null = null;
    return this.#retried(sides, (connection, reading) => {
      const startedMs = context.clock.monotonicMs();
      const trunk = this.host.tenant(databaseId);
      const holdBytes = merge.mode === "data" ? HELD_BYTES : 0;
      const options = { holdBytes, rowForm: merge.rowForm, reading };
      return this.#onBranch(connection, trunk.connection, options, async (parts, compared) => {
        // A snapshot that an earlier attempt could not drop is of another state; one that it has not taken is another instance's.
        if (earlier?.mayHaveSnapshot) await snapshots.drop(databaseId, merge.snapshot);
        const merging = new RemoteMerge(
          { ...parts, trunk: trunk.connection, snapshots },
          merge,
          compared,
          startedMs,
        );
        earlier = merging;
        const outcome = await trunk.inSlot(() => merging.run())
          .finally(() => context.commits.tell(databaseId));
        if (outcome.snapshotTaken) trunk.pruneSnapshots();
        return outcome;
      });
    });
  }

  /** Compares the branch with its ancestor, both as they are at one moment, and hands on what is open. */
  async #onBranch<T>(
    connection: RemoteConnection,
    trunk: RemoteConnection | null,
    options: Pick<CompareOptions, "holdBytes" | "rowForm" | "reading">,
    work: (parts: Pick<MergeParts, "branch" | "ancestor" | "openTrial">, compared: Compared) => Promise<T>,
  ): Promise<T> {
    const { context, catalog } = this.host;
    const location = await catalog.ancestorOf(connection.databaseId);
    if (location === null) throw new AppError("branch_not_found");
    const timeoutMs = Math.max(OWN_TIMEOUT_MS, context.queryTimeoutMs);
    // Nobody writes the ancestor: its pages fit together without a transaction.
    const ancestor = new SideStream(
      (request, options) => send(context, { location, mode: "read" }, request, options),
      [],
      timeoutMs,
    );
    const branch = new SideStream(
      (request, options) => connection.send("read", request, options),
      ["BEGIN"],
      timeoutMs,
    );
    try {
      const openTrial = await this.#trialEngine(location, [connection, ...(trunk ? [trunk] : [])]);
      const compared = await runRemotely(compareSides({ ...options, openTrial }), {
        ancestor,
        branch,
      });
      return await work({ ancestor, branch, openTrial }, compared);
    } finally {
      await branch.end();
    }
  }

  /** One that can take the schemas of all that take part. */
  async #trialEngine(ancestor: string, others: readonly RemoteConnection[]): Promise<OpenTrial> {
    const { context } = this.host;
    const texts = await schemaTexts(context, ancestor);
    for (const other of others) texts.push(...(await other.schemaGate()).schema.statements);
    return await gateEngine(context.gateEngine, texts);
  }

  /** Again where nothing can have been committed, when the database that has failed may be tried again. */
  #retried<T>(
    { branchId, trunkId }: { readonly branchId: string; readonly trunkId: string | null },
    work: (branch: RemoteConnection, reading: Reading) => Promise<T>,
  ): Promise<T> {
    const branch = () => this.host.tenant(branchId).connection;
    const about = ({ more }: RemoteFailure) => {
      const isTrunk = trunkId !== null && more.location?.startsWith(locationOf(trunkId));
      return isTrunk ? this.host.tenant(trunkId).connection : branch();
    };
    return reachable(() =>
      untilAnswered(
        () => readably(() => withAnyTexts((reading) => work(branch(), reading))),
        about,
      )
    );
  }
}

/** A table of the branch cannot be read as it is. */
function unreadable({ kind }: EngineFailure): AppError {
  if (kind === "busy") return new AppError("database_busy");
  if (kind === "result_too_large") return new AppError("result_too_large");
  return new AppError("store_unavailable");
}

/** Errors: those of `work`, but what the caller is told of data that nobody can read. */
async function readably<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StatementFailed) throw unreadable(error.failure);
    // Of a schema: texts of rows are read by their bytes.
    if (error instanceof RemoteFailure && error.reason === "invalid_text") {
      throw new AppError("sql_error", { message: invalidText.message });
    }
    throw error;
  }
}
