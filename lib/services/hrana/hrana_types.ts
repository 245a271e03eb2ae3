// The requests of libSQL's protocol (HRANA_3_SPEC) in the form in which routes have checked them. Fields that this service
// does not know are left out there, as the protocol wants.
import type { MergeContext } from "../branches/run_merge.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import type { BeginTransaction } from "../../query/transaction/interactive_transaction.ts";

/** A value; the service checks what is in it. */
export interface WireValue {
  readonly type: "null" | "integer" | "float" | "text" | "blob";
  readonly value?: unknown;
  readonly base64?: unknown;
}

/** A text, or the number of one that the stream has stored. */
export interface WireText {
  readonly sql?: string | null | undefined;
  readonly sql_id?: number | null | undefined;
}

/** A statement with its values. */
export interface WireStatement extends WireText {
  readonly args?: readonly WireValue[] | null | undefined;
  readonly named_args?: readonly { readonly name: string; readonly value: WireValue }[] | null | undefined;
  readonly want_rows?: boolean | null | undefined;
}

/** Under which a step runs. */
export type WireCondition =
  | { readonly type: "ok" | "error"; readonly step: number }
  | { readonly type: "not"; readonly cond: WireCondition }
  | { readonly type: "and" | "or"; readonly conds: readonly WireCondition[] }
  | { readonly type: "is_autocommit" };

/** Steps in order. */
export interface WireBatch {
  readonly steps: readonly {
    readonly condition?: WireCondition | null | undefined;
    readonly stmt: WireStatement;
  }[];
}

/** One request of a stream. */
export type StreamRequest =
  | { readonly type: "execute"; readonly stmt: WireStatement }
  | { readonly type: "batch"; readonly batch: WireBatch }
  | { readonly type: "sequence" | "describe" } & WireText
  | { readonly type: "store_sql"; readonly sql_id: number; readonly sql: string }
  | { readonly type: "close_sql"; readonly sql_id: number }
  | { readonly type: "get_autocommit" }
  | { readonly type: "close" };

/** The parts of the process that the door needs, the database, and whoever calls now. */
export interface DoorContext extends StatementsContext, MergeContext {
  readonly target: MergeContext["target"];
  /** Null: no transaction lasts over several requests here. */
  readonly begin: BeginTransaction | null;
}

/** What the headers of a request ask for. */
export interface DoorOptions {
  readonly maxAffected: number | null;
  readonly snapshots: boolean;
  /** The value of `Idempotency-Key`. */
  readonly idempotencyKey: string | null;
  readonly signal: () => AbortSignal | null;
  /** Monotonic milliseconds at which the request began. */
  readonly beganMs: number;
}
