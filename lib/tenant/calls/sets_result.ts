// The one result of a statement that runs once for each parameter set: the rows of all sets in their order, and one list
// for each figure with an entry for each set, so that the answer about thousands of sets stays smaller than their values.

/** What sets have done that ran one after the other. */
export interface SetsPart {
  /** The names of the columns as a JSON list. */
  readonly columnsJson: string;
  /** The rows as JSON, with commas between them and without the brackets around. */
  readonly rows: string;
  /** Of each set that has run: how many rows it has returned and changed, and the rowid of the last row that it added. */
  readonly returned: readonly number[];
  readonly written: readonly number[];
  /** Rows that the statement itself has changed. */
  readonly own: readonly number[];
  /** Null: the statement does not tell. */
  readonly rowids: readonly (number | string | null)[] | null;
}

/** Collects what sets have done, in their order. */
export class SetsBuilder {
  readonly #returned: number[] = [];
  readonly #written: number[] = [];
  readonly #own: number[] = [];
  #rowids: (number | string | null)[] | null = [];
  #columnsJson = "[]";
  #rows = "";

  /** How many sets have run. */
  get count(): number {
    return this.#returned.length;
  }

  add({ columnsJson, rows, returned, written, own, rowids }: SetsPart): void {
    // The run of a set that has failed tells nothing, not even of columns.
    if (returned.length === 0) return;
    this.#columnsJson = columnsJson;
    this.#rows += this.#rows !== "" && rows !== "" ? `,${rows}` : rows;
    // One by one: there may be more of them than a call may have arguments.
    for (const one of returned) this.#returned.push(one);
    for (const one of written) this.#written.push(one);
    for (const one of own) this.#own.push(one);
    if (rowids === null) this.#rowids = null;
    for (const one of rowids ?? []) this.#rowids?.push(one);
  }

  get part(): SetsPart {
    const rowids = this.count === 0 ? null : this.#rowids;
    return {
      columnsJson: this.#columnsJson,
      rows: this.#rows,
      returned: this.#returned,
      written: this.#written,
      own: this.#own,
      rowids,
    };
  }
}

/** Writes the result in the form of every other one: without the closing brace. `reads`: the statement writes nothing. */
export function setsJson({ columnsJson, rows, returned, written, rowids }: SetsPart, reads: boolean): string {
  const sets = {
    rowsReturned: columnsJson === "[]" ? null : returned,
    rowsWritten: reads ? null : written,
    lastInsertRowid: rowids,
  };
  return `{"columns":${columnsJson},"rows":[${rows}],"sets":${JSON.stringify(sets)}`;
}

/** What stands in front of the rows in the result of one run. */
const ROWS = '"rows":[';

/** The columns and the rows of the result of one run, whose form every store writes: as the parts of `SetsPart` have them. */
export function partsOfResult(json: string): Pick<SetsPart, "columnsJson" | "rows"> {
  // A quote inside a name is escaped, so the first match is that of the result itself.
  const at = json.indexOf(ROWS);
  return { columnsJson: json.slice('{"columns":'.length, at - 1), rows: json.slice(at + ROWS.length, -1) };
}

/** A row where there is a virtual table. */
export const VIRTUAL_TABLE = "SELECT 1 FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL%' LIMIT 1";

/** Which of the tables in the JSON list `?1` has rowids: the table itself, or nothing. */
export const ROWID_TABLE =
  "SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') " +
  "AND wr = 0 AND name = ?1 COLLATE NOCASE";

/** Counts the bytes of a text in UTF-8. */
export function bytesOf(text: string): number {
  return encoder.encode(text).length;
}

const encoder = new TextEncoder();
