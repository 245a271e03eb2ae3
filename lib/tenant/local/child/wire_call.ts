// A call and its outcome in the form in which they travel between the service and an engine child.
import type { LookupReads } from "../../../engine/rows_read/lookup_reads.ts";
import type { ChangeStep } from "../../../sql/service/change_rows.ts";
import type { RowForm } from "../../../sql/words/row_form.ts";
import type { SqlParameter } from "../../../sql/words/sql_value.ts";
import type { ParamSets } from "../../../sql/words/param_sets.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import type { Level } from "../../../engine/guard.ts";
import type { ReplayKeys } from "../../stored_answer.ts";
import type { StatementEffect } from "../../../engine/statement_effect.ts";
import type { TenantStatement } from "../../tenant_statement.ts";
import type { Footprint, FootprintAsk } from "../../../engine/footprint/footprint.ts";
import type { AffectedBound, MigrationAsk } from "../../call_records.ts";
import type { LogValues } from "../../log_columns.ts";
import type { EarlyCopy } from "./early_copy.ts";

/** A statement on its way: only its values where all else is as in the statement before. */
export type SentStatement = WireStatement | readonly SqlParameter[];

/** A call on its way. */
export type SentCall = Omit<WireCall, "statements"> & { readonly statements: readonly SentStatement[] };

/** The call as it was before what repeats was left out. */
export function wholeCall(call: SentCall): WireCall {
  if (isWholeCall(call)) return call;
  let text = "";
  let level: Level = "read";
  const statements = call.statements.map((one): WireStatement => {
    if (!isWhole(one)) return [text, one, level];
    [text, , level] = one;
    return one;
  });
  return { ...call, statements };
}

/** A read in a group: only the values of its statement where all else is as in the call before. */
export type SentRead = SentCall | readonly SqlParameter[];

/** Leaves out of each call what it repeats: most groups are one look-up with many values, from as many callers. */
export function packReads(calls: readonly SentCall[]): SentRead[] {
  return calls.map((call, at) => {
    const before = calls[at - 1];
    return before === undefined ? call : valuesBehind(before, call) ?? call;
  });
}

/** The calls as they were before what repeats was left out. */
export function wholeReads(reads: readonly SentRead[]): WireCall[] {
  let before: WireCall | undefined;
  return reads.map((read) => {
    if ("statements" in read) return before = wholeCall(read);
    const [repeated] = before?.statements ?? [];
    if (before === undefined || repeated === undefined) throw new TypeError("a call repeats none");
    const [sql, , level] = repeated;
    return { ...before, statements: [[sql, read, level]] };
  });
}

/** Null where the calls differ in more than the values of their only statement. */
function valuesBehind(before: SentCall, call: SentCall): readonly SqlParameter[] | null {
  const [one, ...others] = call.statements;
  const [first] = before.statements;
  if (one === undefined || first === undefined || !isWhole(one) || !isWhole(first)) return null;
  const isOnly = others.length === 0 && before.statements.length === 1;
  const isSame = one[0] === first[0] && one[2] === first[2] && one.length === 3 && first.length === 3;
  return isOnly && isSame && areLike(before, call) ? one[1] : null;
}

/** Whether all members of two calls are the same but their statements. */
function areLike(one: SentCall, other: SentCall): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length &&
    names.every((name) => name === "statements" || Reflect.get(one, name) === Reflect.get(other, name));
}

function isWholeCall(call: SentCall): call is WireCall {
  return call.statements.every(isWhole);
}

/** No value is a list, so a list in the second place is that of a statement's values. */
function isWhole(one: SentStatement): one is WireStatement {
  return Array.isArray(one[1]);
}

/** A statement in a frame. */
export type WireStatement = readonly [
  sql: string,
  params: readonly SqlParameter[],
  level: Level,
  more?: WireStatementMore,
];

/** The parts that only some statements have. */
export type WireStatementMore = Pick<
  TenantStatement,
  "replacing" | "schemaRows" | "takes" | "returns" | "after"
>;

/** A call in a frame. */
export interface WireCall {
  readonly statements: readonly WireStatement[];
  readonly level: Level;
  readonly atomic: boolean;
  readonly schemaVersion: number;
  /** Of a read: stands for the version, as in a `TenantCall`. */
  readonly schema?: string;
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly rowForm: RowForm;
  readonly foreignKeysOff: boolean;
  /** Of a read: a file at rest has been given its log, if it can have one. */
  readonly awake?: true;
  /** Absent for reads, whose log rows the service collects and sends later. The child fills in the figures. */
  readonly log?: LogValues;
  readonly failsWith?: string;
  readonly stoppedMs?: number;
  readonly replay?: ReplayKeys;
  /** File name of the snapshot to take first; such a call travels alone. */
  readonly snapshot?: string;
  /** What of it was copied already. */
  readonly early?: EarlyCopy;
  /** Such a call travels alone. */
  readonly dryRun?: true;
  readonly affected?: AffectedBound;
  /** Such a call travels alone. */
  readonly footprint?: FootprintAsk;
  /** Such a call travels alone. */
  readonly migration?: MigrationAsk;
  readonly auditId?: string;
  readonly auditTables?: string;
  readonly changeKinds?: number;
  readonly changeSteps?: readonly ChangeStep[];
  /** As a `TenantCall` has them. */
  readonly paramSets?: ParamSets;
  readonly rowidOf?: string | null;
  /** Milliseconds that all sets together may run. */
  readonly setsMs?: number;
}

/** Length of the text, rows read, rows written, of so many statements in a row (absent: of one), whose text travels once. */
export type WireResult = readonly [
  textLength: number,
  rowsRead: number,
  rowsWritten: number,
  statements?: number,
];

/** The result of one statement. */
interface OneResult {
  readonly json: string;
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

/** Puts results into the form of a frame: equal ones that follow each other, as of many inserts, travel once. */
export function packResults(
  results: readonly OneResult[],
): { readonly r: readonly WireResult[]; readonly text: string } {
  const r: WireResult[] = [];
  let text = "";
  for (let at = 0; at < results.length;) {
    const first = results[at];
    if (first === undefined) break;
    const { json, rowsRead, rowsWritten } = first;
    let end = at + 1;
    for (let next = results[end]; next !== undefined && equal(first, next); next = results[++end]);
    const length = json.length;
    r.push(
      end === at + 1 ? [length, rowsRead, rowsWritten] : [length, rowsRead, rowsWritten, end - at],
    );
    text += json;
    at = end;
  }
  return { r, text };
}

function equal(one: OneResult, other: OneResult): boolean {
  return one.rowsRead === other.rowsRead && one.rowsWritten === other.rowsWritten && one.json === other.json;
}

/** The outcome of a call in a frame. */
export type WireOutcome =
  | {
    readonly k: "ok";
    readonly r: readonly WireResult[];
    readonly ms: number;
    /** As an outcome has them. */
    readonly rowsRemoved?: number;
    /** The call was the first one of its group, and its statement is a look-up that ends by itself (`lookupReads`). */
    readonly l?: LookupReads;
    /** The schema version, where the call named a schema instead. */
    readonly v?: number;
    readonly e?: readonly StatementEffect[];
    /** The footprint of a dry run that was asked for one. */
    readonly p?: Footprint;
  }
  | {
    readonly k: "failed";
    readonly r: readonly WireResult[];
    readonly at: number;
    readonly f: EngineFailure;
    readonly ms: number;
    /** Rows read and written by the whole call, committed or not. */
    readonly w: readonly [read: number, written: number];
    /** The effects of a dry run's statements before the failure. */
    readonly e?: readonly StatementEffect[];
    readonly p?: Footprint;
    /** The transaction itself failed, so that no log row could be written in it. */
    readonly unlogged?: true;
  }
  /** `schema`: of a read, where it is shared. */
  | { readonly k: "stale"; readonly v: number; readonly schema?: string | undefined }
  | WireReplayed;

/** `replayed`: the call's stored answer, `length` characters of the frame's text. `mismatch`: another call has the key. */
export type WireReplayed =
  | { readonly k: "replayed"; readonly length: number; readonly matched: readonly number[] }
  | { readonly k: "mismatch" };

/** The outcomes with the lengths that `lengthOf` gives their texts, which it is told in order. */
export function withLengths(
  outcomes: readonly WireOutcome[],
  text: string,
  lengthOf: (text: string) => number,
): WireOutcome[] {
  let at = 0;
  const take = (length: number) => lengthOf(text.slice(at, at += length));
  return outcomes.map((outcome): WireOutcome => {
    if (outcome.k === "replayed") return { ...outcome, length: take(outcome.length) };
    if (outcome.k === "stale" || outcome.k === "mismatch") return outcome;
    return { ...outcome, r: outcome.r.map(([length, ...figures]): WireResult => [take(length), ...figures]) };
  });
}
