// What a question asks for, before it is written as SQL.
import type { ColumnRef } from "./column_kinds.ts";
import type { AskTable } from "../model/ask_schema.ts";
import type { Unit } from "./units.ts";

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
    /** The unit to answer in, where the question names one: `divide` of the column's are one of it. */
    readonly into: { readonly unit: Unit; readonly name: string; readonly divide: number } | null;
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
  | Exists;

/** Rows of `of` to which a row of `table` belongs for which all of `inner` hold; with `not` none does. */
export interface Exists {
  readonly kind: "exists";
  readonly of: AskTable;
  readonly table: AskTable;
  readonly inner: readonly Condition[];
  readonly not?: boolean;
  /** The columns of the reference to follow, where there are several between the two. */
  readonly by?: readonly string[] | null;
  /** Of a reference to its own table: the rows that such rows refer to. */
  readonly up?: boolean;
}

/** In which order rows come, and how many of them. `by` null: by what is counted or added up. */
export interface Ordering {
  readonly by: Term | Measure | null;
  readonly descending: boolean;
  readonly limit: number | null;
  readonly offset: number;
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
  readonly distinct: boolean;
  readonly having: { readonly measure: Measure; readonly operator: string; readonly value: number } | null;
  readonly order: { readonly by: Term | Measure; readonly descending: boolean } | null;
  readonly limit: number | null;
  readonly offset: number;
}

/** Whether something is counted or added up, rather than read from a row. */
export function isMeasure(by: Term | Measure): by is Measure {
  return by.kind === "aggregate" || by.kind === "rows";
}
