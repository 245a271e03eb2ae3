// A call and its outcome in the form in which they travel between the service and an engine child.
import type { RowForm } from "../../../sql/row_form.ts";
import type { SqlParameter } from "../../../sql/sql_value.ts";
import type { ParamSets } from "../../../sql/param_sets.ts";
import type { EngineFailure } from "../../../engine/engine_failure.ts";
import type { Level } from "../../../engine/guard.ts";
import type { ReplayKeys } from "../../stored_answer.ts";
import type { StatementEffect } from "../../../engine/statement_effect.ts";
import type { TenantStatement } from "../../tenant_store.ts";
import type { Footprint, FootprintAsk } from "../../../engine/footprint/footprint.ts";
import type { AffectedBound, MigrationAsk } from "../../call_records.ts";
import type { LogValues } from "../../log_columns.ts";
import type { EarlyCopy } from "./early_copy.ts";

/** Stands for the text of the statement before: no statement is empty. */
export const SAME_TEXT = "";

/** The call as it was before its texts were left out. */
export function withTexts(call: WireCall): WireCall {
  if (call.statements.length < 2) return call;
  let text = "";
  const statements = call.statements.map((statement): WireStatement => {
    const [sql, params, level, more] = statement;
    if (sql !== SAME_TEXT) {
      text = sql;
      return statement;
    }
    return more ? [text, params, level, more] : [text, params, level];
  });
  return { ...call, statements };
}

/** A statement in a frame. */
export type WireStatement = readonly [
  sql: string,
  params: readonly SqlParameter[],
  level: Level,
  more?: WireStatementMore,
];

/** The parts that only some statements have. */
export type WireStatementMore = Pick<TenantStatement, "replacing" | "schemaRows" | "takes" | "after">;

/** A call in a frame. */
export interface WireCall {
  readonly statements: readonly WireStatement[];
  readonly level: Level;
  readonly atomic: boolean;
  readonly schemaVersion: number;
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly rowForm: RowForm;
  readonly foreignKeysOff: boolean;
  /** Absent for reads, whose log rows the service collects and sends later. The child fills in the figures. */
  readonly log?: LogValues;
  readonly failsWith?: string;
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
  /** As a `TenantCall` has them. */
  readonly paramSets?: ParamSets;
  readonly rowidOf?: string | null;
  /** Milliseconds that all sets together may run. */
  readonly setsMs?: number;
}

/** Per statement: length of its row text, rows read, rows written. */
export type WireResult = readonly [textLength: number, rowsRead: number, rowsWritten: number];

/** The outcome of a call in a frame. */
export type WireOutcome =
  | {
    readonly k: "ok";
    readonly r: readonly WireResult[];
    readonly ms: number;
    /** The call was the only one of its group, and its statement is a look-up that ends by itself (`isKeyLookup`). */
    readonly l?: true;
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
  | { readonly k: "stale"; readonly v: number }
  | WireReplayed;

/** `replayed`: the call's stored answer, `length` characters of the frame's text. `mismatch`: another call has the key. */
export type WireReplayed =
  | { readonly k: "replayed"; readonly length: number; readonly matched: readonly number[] }
  | { readonly k: "mismatch" };
