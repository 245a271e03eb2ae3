// What a question was understood to ask for, before it is written as SQL.
import type { AskTable } from "../ask_schema.ts";
import type { ColumnRef, Mention } from "./link_names.ts";

/** A value for each row: a column, a calendar part of one, or the product of two. */
export type Term =
  | { readonly kind: "column"; readonly ref: ColumnRef }
  | { readonly kind: "month" | "year" | "day"; readonly ref: ColumnRef }
  | { readonly kind: "product"; readonly ref: ColumnRef; readonly by: ColumnRef };

export type Aggregate = "count" | "sum" | "avg" | "min" | "max";

export type Measure =
  | {
    readonly kind: "aggregate";
    readonly aggregate: Aggregate;
    readonly term: Term;
    readonly distinct: boolean;
  }
  /** Rows of a table. */
  | { readonly kind: "rows"; readonly table: AskTable };

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
  /** No row of `table` belongs to it. */
  | { readonly kind: "nothing"; readonly of: AskTable; readonly table: AskTable };

/** `by` null: by what is counted or added up. */
export interface Ordering {
  readonly by: Term | Measure | null;
  readonly descending: boolean;
  readonly limit: number | null;
  /** What the rows are, where the words around it say so. */
  readonly entity: Mention | null;
  /** Nothing asks which: the extreme value itself is the answer. */
  readonly bare: boolean;
}

export interface Plan {
  /** Table that the rows of the answer are made from. */
  readonly root: AskTable;
  /** Columns without an aggregate, in order. */
  readonly terms: readonly Term[];
  readonly measures: readonly Measure[];
  readonly conditions: readonly Condition[];
  /** The terms are groups. `key` stands for a table whose rows are the groups. */
  readonly grouped: boolean;
  readonly groupTable: AskTable | null;
  /** Tables that only have to have a row that belongs to it. */
  readonly through: readonly AskTable[];
  readonly distinct: boolean;
  readonly having: { readonly measure: Measure; readonly operator: string; readonly value: number } | null;
  readonly order: { readonly by: Term | Measure; readonly descending: boolean } | null;
  readonly limit: number | null;
}

/** Tells what is counted or added up from what a row holds. */
export function isMeasure(by: Term | Measure): by is Measure {
  return by.kind === "aggregate" || by.kind === "rows";
}
