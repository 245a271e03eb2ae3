// What a question asks for, before it is written as SQL.
import type { AskTable } from "../model/ask_schema.ts";
import type { ColumnRef, Mention } from "./link_names.ts";

/** A value for each row: a column, a calendar part of one, or a product of two. */
export type Term =
  | { readonly kind: "column"; readonly ref: ColumnRef }
  | { readonly kind: "month" | "year" | "day"; readonly ref: ColumnRef }
  | { readonly kind: "product"; readonly ref: ColumnRef; readonly by: ColumnRef };

/** A count or a sum. */
export type Aggregate = "count" | "sum" | "avg" | "min" | "max";

/** What is counted or added up. */
export type Measure =
  | {
    readonly kind: "aggregate";
    readonly aggregate: Aggregate;
    readonly term: Term;
    readonly distinct: boolean;
  }
  /** The number of rows of a table. */
  | { readonly kind: "rows"; readonly table: AskTable };

/** What narrows the rows. */
export type Condition =
  | { readonly kind: "compare"; readonly ref: ColumnRef; readonly operator: string; readonly value: number }
  | { readonly kind: "between"; readonly ref: ColumnRef; readonly low: number; readonly high: number }
  | {
    readonly kind: "values";
    readonly ref: ColumnRef;
    readonly values: readonly string[];
    readonly not: boolean;
  }
  | { readonly kind: "null"; readonly ref: ColumnRef; readonly not: boolean }
  | {
    readonly kind: "days";
    readonly ref: ColumnRef;
    readonly from: string | null;
    readonly before: string | null;
  }
  /** Rows to which no row of `table` belongs. */
  | { readonly kind: "nothing"; readonly of: AskTable; readonly table: AskTable };

/** `by` null: by what is counted or added up. */
export interface Ordering {
  readonly by: Term | Measure | null;
  readonly descending: boolean;
  readonly limit: number | null;
  /** The table of the rows, where the words around say so. */
  readonly entity: Mention | null;
  /** Nothing asks for the row: the extreme value itself is the answer. */
  readonly bare: boolean;
}

/** All that a question asks for. */
export interface Plan {
  /** The table that the rows of the answer come from. */
  readonly root: AskTable;
  /** Columns without an aggregate, in order. */
  readonly terms: readonly Term[];
  readonly measures: readonly Measure[];
  readonly conditions: readonly Condition[];
  /** Whether the terms are groups. `groupTable` is a table whose rows are the groups. */
  readonly grouped: boolean;
  readonly groupTable: AskTable | null;
  /** Tables that must have a row that belongs to the row shown. */
  readonly through: readonly AskTable[];
  readonly distinct: boolean;
  readonly having: { readonly measure: Measure; readonly operator: string; readonly value: number } | null;
  readonly order: { readonly by: Term | Measure; readonly descending: boolean } | null;
  readonly limit: number | null;
}

/** Whether something is counted or added up, rather than read from a row. */
export function isMeasure(by: Term | Measure): by is Measure {
  return by.kind === "aggregate" || by.kind === "rows";
}
