// Reads a dump, of this service or of `sqlite3`'s `.dump`, as items. What statements without meaning for a new file say is
// left out; what cannot be taken is refused with its line.
import type { StoredValue } from "../../../sql/words/stored_text.ts";
import { sqlTokens } from "../../../sql/tokens/sql_tokens.ts";
import { NotTaken } from "./not_taken.ts";
import { dumpStatements, leadLength } from "./dump_text.ts";
import { type InsertedRows, insertRows } from "./insert_rows.ts";
import type { Item, RowsItem } from "./items.ts";
import { DumpedModules } from "./dumped_modules.ts";
import { END_LINE, FIRST_LINE } from "./sql_marks.ts";

/** Rows and characters of one item. */
const ROWS_AT_ONCE = 500;
const CHARACTERS_AT_ONCE = 512 * 1024;
const NO_MEANING = /^BEGIN\b|^PRAGMA\s+(?:foreign_keys|writable_schema|defer_foreign_keys)\s*=|^ANALYZE\b/i;

/** The items of a file. Throws `NotTaken`. */
export function* dumpItems(path: string): Generator<Item> {
  const parts = new RowParts();
  for (const { item, characters, line } of singleItems(path)) {
    if (item?.t === "rows") yield* parts.add(item, { characters, line });
    else {
      yield* parts.take();
      if (item !== null) yield item;
    }
  }
}

/** How long the text of an item's statement was, and where it began. */
interface Source {
  readonly characters: number;
  readonly line: number;
}

/** Each statement's items; null at the end of the file. */
function* singleItems(path: string): Generator<Source & { readonly item: Item | null }> {
  const modules = new DumpedModules();
  let own: boolean | null = null;
  let open = false;
  let empty = true;
  let rows = 0;
  for (const { sql: text, line, last } of dumpStatements(path)) {
    own ??= text.startsWith(FIRST_LINE);
    const at = `line ${line}`;
    const sql = text.slice(leadLength(text)).trimEnd();
    if (last) {
      if (sql !== "") throw new NotTaken("the last statement has no end", at);
      if (open) throw new NotTaken("the dump is cut: it begins a transaction and does not commit it", at);
      if (own) checkEnd(text, rows, at);
      // `sqlite3` makes a database of a name that is mistyped, and a pipe that breaks early has sent nothing.
      else if (empty) throw new NotTaken("the dump has no table", null);
      for (const item of modules.losses()) yield { item, characters: 0, line };
      return yield { item: null, characters: 0, line };
    }
    if (empty) empty = !/^(?:CREATE|INSERT)\b/i.test(sql);
    const inserted = insertRows(sql);
    if (inserted !== null) {
      for (const item of modules.rowsItems(inserted, at) ?? [plainRows(inserted, at)]) {
        if (item.t === "rows") rows += item.rows.length;
        yield { item, characters: sql.length, line };
      }
      continue;
    }
    if (/^BEGIN\b/i.test(sql)) open = true;
    if (/^(?:COMMIT|END)\b/i.test(sql)) open = false;
    for (const item of otherItems(sql, at, modules)) yield { item, characters: sql.length, line };
  }
}

/** Joins the rows of statements that follow each other. */
class RowParts {
  #part: RowsItem | null = null;
  #rows: (readonly StoredValue[])[] = [];
  #lines: number[] = [];
  #characters = 0;

  *add(item: RowsItem, { characters, line }: Source): Generator<RowsItem> {
    const joins = this.#part !== null && isSame(this.#part, item) && this.#rows.length < ROWS_AT_ONCE &&
      this.#characters < CHARACTERS_AT_ONCE;
    if (!joins) {
      yield* this.take();
      this.#part = item;
    }
    for (const row of item.rows) {
      this.#rows.push(row);
      this.#lines.push(line);
    }
    this.#characters += characters;
  }

  *take(): Generator<RowsItem> {
    if (this.#part !== null) yield { ...this.#part, rows: this.#rows, lines: this.#lines };
    this.#part = null;
    this.#rows = [];
    this.#lines = [];
    this.#characters = 0;
  }
}

function* otherItems(sql: string, at: string, modules: DumpedModules): Generator<Item> {
  if (/^(?:COMMIT|END)\b/i.test(sql)) return yield* modules.rebuilds();
  if (sql === "" || NO_MEANING.test(sql) || /^DELETE\s+FROM\s+["']?sqlite_sequence\b/i.test(sql)) return;
  const version = /^PRAGMA\s+user_version\s*=\s*(-?\d{1,10})$/i.exec(sql);
  if (version) return yield { t: "version", value: BigInt(version[1] ?? "0") };
  if (/^CREATE\b/i.test(sql)) {
    if (modules.isStorage(sql)) return;
    modules.note(sql);
    // The service reads the kind and the name, because it has a grammar.
    return yield { t: "object", type: "table", name: "", sql, at };
  }
  const rebuild = /^INSERT\s+INTO\s+("(?:[^"]|"")*"|\w+)\s*\(\s*\1\s*\)\s*VALUES\s*\(\s*'rebuild'\s*\)$/i
    .exec(sql);
  if (rebuild) return yield { t: "rebuild", table: sqlTokens(rebuild[1] ?? "")[0]?.text ?? "" };
  if (/^INSERT\b/i.test(sql)) return yield { t: "statement", sql, at };
  // A dump of PostgreSQL may begin with a command of psql. What writes a dump of SQLite by itself may drop tables first.
  const [word = "this"] = /^\\?\w+/.exec(sql) ?? [];
  const way = /^DROP\b/i.test(sql) ? ": take it out, nothing is there to drop" : "";
  throw new NotTaken(
    `${word.toUpperCase()} is no statement of SQLite's .dump${way}; rows of other databases come in as csv or ndjson`,
    at,
  );
}

function plainRows({ table, columns, rows }: InsertedRows, at: string): Item {
  return { t: "rows", table, columns, rows, at };
}

function isSame(one: RowsItem, other: RowsItem): boolean {
  return one.table === other.table && String(one.columns) === String(other.columns) &&
    one.rows[0]?.length === other.rows[0]?.length;
}

/** What this service has written says how much there is. */
function checkEnd(text: string, rows: number, at: string): void {
  const [, told] = END_LINE.exec(text) ?? [];
  if (told === undefined) throw new NotTaken("the file is cut: its last line is missing", at);
  if (Number(told) > rows) throw new NotTaken(`the file has ${rows} rows and says that it has ${told}`, at);
}
