// Reads and changes the text of a CREATE TABLE: changes it where ALTER TABLE cannot, leaving everything else as it was
// written, and cuts out the SELECT of a CREATE TABLE AS, which must not run where only the schema matters: it could run
// for ever. Pure.
import { foldName } from "../words/names.ts";
import type { ColumnDefinition, CreateTableStmt, Expr, Stmt } from "sqlite3-parser";
import { parseStmt } from "./grammar.ts";
import { type CheckedValues, checkedValues } from "./check_values.ts";
import { quoteIdentifier } from "../words/quote.ts";

type Body = Extract<CreateTableStmt["body"], { type: "ColumnsAndConstraintsCreateTableBody" }>;
type TextRange = { readonly offset: number; readonly length: number };

/** The text of a table's definition. */
export class TableText {
  private constructor(readonly sql: string, private readonly body: Body) {}

  /** Null for a text that is no CREATE TABLE with a list of columns, as far as the service's grammar knows. */
  static read(sql: string): TableText | null {
    const parsed = parseStmt(sql);
    if (parsed.status === "error" || parsed.root.type !== "CreateTableStmt") return null;
    const { body } = parsed.root;
    return body.type === "ColumnsAndConstraintsCreateTableBody" ? new TableText(sql, body) : null;
  }

  /** The conditions of its CHECK constraints, as written. */
  checks(): readonly string[] {
    return this.#conditions().map(({ span }) => this.#textOf(span));
  }

  #conditions(): readonly Expr[] {
    const all = [
      ...this.body.columns.flatMap(({ constraints }) => constraints),
      ...this.body.constraints ?? [],
    ];
    return all.flatMap(({ constraint }) =>
      constraint.type === "CheckColumnConstraint" || constraint.type === "CheckTableConstraint"
        ? [constraint.expr]
        : []
    );
  }

  /** What its CHECK constraints say of the values of a column. */
  checkedValues(column: string): CheckedValues {
    const said = this.#conditions().map((expr) => checkedValues(expr, column));
    return said.find((one) => one === "texts") ?? said.find((one) => one === "other") ?? "nothing";
  }

  /** Adds a column before the first. `definition` is SQL. */
  withFirstColumn(definition: string): string {
    const at = this.body.columns[0]?.span.offset ?? this.sql.indexOf("(") + 1;
    return this.#splice([{ from: at, to: at, text: `${definition}, ` }]);
  }

  /** Adds a primary key over existing columns at the end. */
  withPrimaryKey(columns: readonly string[]): string {
    const elements: readonly { readonly span: TextRange }[] = [
      ...this.body.columns,
      ...this.body.constraints ?? [],
    ];
    const at = Math.max(...elements.map(({ span }) => end(span)));
    return this.#splice([{
      from: at,
      to: at,
      text: `, PRIMARY KEY (${columns.map(quoteIdentifier).join(", ")})`,
    }]);
  }

  /** Adds types to columns without one; `typeOf` answers null where a column stays as it is. */
  withTypes(typeOf: (column: string) => string | null): string {
    return this.#splice(this.body.columns.flatMap((column) => {
      const type = column.colType === undefined ? typeOf(column.colName.text) : null;
      const at = end(column.colName.span);
      return type === null ? [] : [{ from: at, to: at, text: ` ${type}` }];
    }));
  }

  /** Changes the types of columns that have one, by name. Null where one of them has none. */
  withNewTypes(types: ReadonlyMap<string, string>): TableText | null {
    if (types.size === 0) return this;
    const edits = this.body.columns.flatMap(({ colName, colType }) => {
      const type = types.get(colName.text);
      return type === undefined || colType === undefined
        ? []
        : [{ from: colType.span.offset, to: end(colType.span), text: type }];
    });
    return edits.length < types.size ? null : TableText.read(this.#splice(edits));
  }

  /** Removes foreign keys, of all at once because a table may have thousands. Null where one of them is not there. */
  withoutForeignKeys(keys: readonly ForeignKeyName[]): string | null {
    const left = new Map<string, number>();
    for (const key of keys) left.set(nameOf(key), (left.get(nameOf(key)) ?? 0) + 1);
    const takes = (key: ForeignKeyName) => {
      const count = left.get(nameOf(key)) ?? 0;
      if (count > 0) left.set(nameOf(key), count - 1);
      return count > 0;
    };
    const cuts = this.body.columns.flatMap((column) =>
      columnKeys(column, (toTable) => takes({ columns: [column.colName.text], toTable }))
    );
    let before = Math.max(...this.body.columns.map(({ span }) => end(span)));
    for (const { constraint, span } of this.body.constraints ?? []) {
      if (constraint.type === "ForeignKeyTableConstraint") {
        const columns = constraint.columns.map((one) => one.colName.text);
        const isOne = takes({ columns, toTable: constraint.clause.tblName.text });
        if (isOne) cuts.push({ from: before, to: end(span), text: "" });
      }
      before = end(span);
    }
    return [...left.values()].some((count) => count > 0) ? null : this.#splice(cuts);
  }

  #textOf(range: TextRange): string {
    return this.sql.slice(range.offset, end(range));
  }

  #splice(edits: readonly { readonly from: number; readonly to: number; readonly text: string }[]): string {
    let text = "";
    let at = 0;
    for (const edit of edits) {
      text += this.sql.slice(at, edit.from) + edit.text;
      at = edit.to;
    }
    return text + this.sql.slice(at);
  }
}

/** What tells one foreign key of a table from another. */
interface ForeignKeyName {
  readonly columns: readonly string[];
  readonly toTable: string;
}

/** Names contain no U+0000. */
function nameOf({ columns, toTable }: ForeignKeyName): string {
  return [toTable, ...columns].map(foldName).join("\u0000");
}

/** The ranges of a column's REFERENCES clauses, each with the name before it and DEFERRABLE after it. */
function columnKeys(column: ColumnDefinition, isTarget: (table: string) => boolean) {
  let before = end(column.colType?.span ?? column.colName.span);
  return column.constraints.flatMap(({ constraint, span }, at) => {
    const from = before;
    before = end(span);
    if (constraint.type !== "ForeignKeyColumnConstraint" || !isTarget(constraint.clause.tblName.text)) {
      return [];
    }
    const next = column.constraints[at + 1];
    const deferred = next?.constraint.type === "DeferColumnConstraint" ? next.span : span;
    return [{ from, to: end(deferred), text: "" }];
  });
}

function end({ offset, length }: TextRange): number {
  return offset + length;
}

/** The parts of a CREATE TABLE AS. */
export interface TableAs {
  readonly name: string;
  readonly ifNotExists: boolean;
  readonly select: string;
}

/** Finds the parts of a CREATE TABLE AS, whose text is `sql`; null for every other statement. */
export function tableAs(root: Stmt, sql: string): TableAs | null {
  if (root.type !== "CreateTableStmt") return null;
  const { tblName, ifNotExists, body } = root;
  if (body.type !== "AsSelectCreateTableBody") return null;
  return { name: tblName.objName.text, ifNotExists, select: sql.slice(body.select.span.offset) };
}
