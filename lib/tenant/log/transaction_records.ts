// The log rows and audit rows of a transaction's writes until its end: they are committed with it. Of what is undone the
// log rows stay, outside of it.
import { foldName } from "../../sql/words/names.ts";
import type { Clock } from "../../core/clock.ts";
import { type CallChange, CommitChange } from "../../sql/service/change_rows.ts";
import { newId } from "../../core/ids.ts";
import { changeThatStays, recordsOf } from "../call_records.ts";
import type { LogBuffer } from "./log_buffer.ts";
import { logRowOf, type LogValues } from "../log_columns.ts";
import type { TenantCall, TenantOutcome } from "../tenant_store.ts";
import type { SavepointVerb } from "../transaction_control.ts";

/** Records as they rest between two requests. */
export interface RestingRecords {
  readonly kept: readonly Kept[];
  readonly marks: readonly Mark[];
}

/** An open savepoint, and how many records there are before it. */
interface Mark {
  readonly name: string;
  readonly at: number;
}

interface Kept {
  readonly row: LogValues;
  readonly audit: LogValues | null;
  readonly change?: CallChange | null;
}

/** The records of one transaction. */
export class TransactionRecords {
  #kept: Kept[];
  #marks: Mark[];

  constructor(
    private readonly log: Pick<LogBuffer, "add" | "note">,
    private readonly clock: Clock,
    { kept, marks }: RestingRecords = { kept: [], marks: [] },
  ) {
    this.#kept = [...kept];
    this.#marks = [...marks];
  }

  /** What rests. */
  get resting(): RestingRecords {
    return { kept: this.#kept, marks: this.#marks };
  }

  /** Adds the records of a call that has run. */
  add(call: TenantCall, outcome: TenantOutcome): void {
    const row = logRowOf(call, outcome);
    if (row === null || typeof outcome.ok === "string") return;
    const failure = outcome.ok ? undefined : outcome.failure;
    const records = recordsOf(call, failure, outcome.results.length);
    if (records.log === null) return;
    const stays = call.level !== "read" && (outcome.ok || outcome.results.length > 0);
    if (!stays) return this.log.add(row);
    const all = { tables: JSON.stringify(call.auditTables), kinds: call.changeKinds ?? 0 };
    const stopped = { failure, results: outcome.results.length };
    const leaves = records.audit && call.auditTables !== null;
    const changed = leaves ? changeThatStays(call, all, stopped) : null;
    const audit = changed && this.#audit(row, changed.tables, outcome);
    this.#kept.push({ row, audit, change: audit && changeOf(audit, changed?.kinds ?? 0) });
  }

  /** Notes a savepoint statement that has run. */
  savepoint(verb: SavepointVerb, name: string): void {
    if (verb === "savepoint") return void this.#marks.push({ name: foldName(name), at: this.#kept.length });
    const [, found] = this.depthOf(name);
    const mark = this.#marks[found];
    if (!mark) return;
    this.#marks = this.#marks.slice(0, verb === "release" ? found : found + 1);
    if (verb === "rollback to") this.#undo(mark.at);
  }

  /** How many savepoints are open, and the place of the last one of that name among them; -1: there is none. */
  depthOf(name: string): readonly [depth: number, at: number] {
    return [this.#marks.length, this.#marks.findLastIndex((mark) => mark.name === foldName(name))];
  }

  get logRows(): LogValues[] {
    return this.#kept.map(({ row }) => row);
  }

  get auditRows(): LogValues[] {
    return this.#kept.flatMap(({ audit }) => audit === null ? [] : [audit]);
  }

  /** What the transaction has changed. */
  get change(): CommitChange {
    const all = new CommitChange();
    for (const { change } of this.#kept) if (change) all.add(change);
    return all;
  }

  /** The id of a row by which a commit is known; null: nothing is to be committed. */
  get firstId(): string | null {
    const [first] = this.#kept;
    return first === undefined ? null : String(first.row[0]);
  }

  /** Notes that all of them are committed. */
  committed(): void {
    for (const { row } of this.#kept) this.log.note(row);
    this.#kept = [];
  }

  /** Nothing of the transaction stays but its log rows. */
  undone(): void {
    this.#undo(0);
  }

  #undo(from: number): void {
    for (const { row } of this.#kept.splice(from)) this.log.add(row);
  }

  /** In the column order of `_service_meta_audit`. */
  #audit(
    [id = null, ts = null, , , tokenId = null, userId = null, operation = null]: LogValues,
    tables: string,
    { results }: { readonly results: readonly { readonly rowsWritten: number }[] },
  ): LogValues {
    const rowsWritten = results.reduce((sum, one) => sum + one.rowsWritten, 0);
    const auditId = newId("evt", this.clock.now());
    return [auditId, ts, tokenId, userId, operation, tables, rowsWritten, id];
  }
}

/** Of an audit row: `at`, `tables` and `rows` stand at 1, 5 and 6. */
function changeOf(audit: LogValues, kinds: number): CallChange {
  return { at: Number(audit[1]), tables: String(audit[5]), rows: Number(audit[6]), kinds };
}
