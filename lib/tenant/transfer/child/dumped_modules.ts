// Virtual tables as `sqlite3`'s `.dump` writes them: a row of the schema, and the storage as tables of their own. Only the
// rows that were put in are taken; the index is made of them.
import { allowedModules } from "../../../sql/words/functions.ts";
import { foldName } from "../../../sql/words/names.ts";
import { quoteIdentifier as quoted } from "../../../sql/words/quote.ts";
import { freeRowidName } from "../../../sql/words/rowid_names.ts";
import { moduleOf } from "../../../sql/tokens/module_of.ts";
import { sqlTokens } from "../../../sql/tokens/sql_tokens.ts";
import { DumpedRtree } from "./dumped_rtree.ts";
import { NotTaken } from "./not_taken.ts";
import type { InsertedRows } from "./insert_rows.ts";
import { emptyIndex, type Item } from "./items.ts";
import { contentOf, ftsColumns } from "./table_source.ts";

interface Dumped {
  readonly name: string;
  readonly module: string;
  readonly fills: "rows" | "rebuild" | "nothing";
  readonly columns: readonly string[];
  /** Null: it is no R*Tree, or its rows stand in the dump as those of any table. */
  readonly rtree: DumpedRtree | null;
}

/** The tables of the storage, by module: another table may have a name that begins in the same way. */
const FTS5_PARTS = ["data", "idx", "content", "docsize", "config"];
const RTREE_PARTS = ["node", "rowid", "parent"];
const SCHEMA_NAMES = new Set(["sqlite_master", "sqlite_schema"]);

/** The virtual tables of a dump. */
export class DumpedModules {
  readonly #known = new Map<string, Dumped>();
  readonly #rebuilt = new Set<string>();
  readonly #emptied = new Set<Dumped>();

  /** Notes a virtual table that is made by its own statement; its storage is not in the dump. */
  note(sql: string): void {
    const module = moduleOf(sql);
    if (module !== null) this.#add(sql, nameIn(sql), module, null);
  }

  /** Whether the statement makes a part of the storage of a virtual table. */
  isStorage(sql: string): boolean {
    return moduleOf(sql) === null && this.#partOf(nameIn(sql)) !== null;
  }

  /** What the rows of such an INSERT mean; null: they are a table's own. */
  rowsItems(inserted: InsertedRows, at: string): readonly Item[] | null {
    const table = foldName(inserted.table);
    if (SCHEMA_NAMES.has(table)) return this.#fromSchema(inserted, at);
    if (table === "sqlite_sequence") {
      return inserted.rows.flatMap(([name = null, value = null]) => {
        if (typeof name !== "string" || typeof value !== "bigint") {
          throw new NotTaken("a sequence is damaged", at);
        }
        return [{ t: "sequence", table: name, value } satisfies Item];
      });
    }
    if (table.startsWith("sqlite_stat")) return [];
    const command = this.#known.get(table);
    if (command !== undefined && inserted.columns?.[0] === quoted(command.name)) {
      return commandItems(command.name, inserted, at);
    }
    const part = this.#partOf(inserted.table);
    if (part?.of.fills === "nothing" && part.name === "docsize") this.#emptied.add(part.of);
    return part === null ? null : storageItems(part.of, part.name, inserted, at);
  }

  /** Fills the indexes whose rows are another table's, once all rows are there. */
  *rebuilds(): Generator<Item> {
    for (const { name, fills } of this.#known.values()) {
      if (fills !== "rebuild" || this.#rebuilt.has(name)) continue;
      this.#rebuilt.add(name);
      yield { t: "rebuild", table: name };
    }
  }

  /** Those that stay empty although they were not: their storage is in the dump. Throws `NotTaken`. */
  *losses(): Generator<Item> {
    for (const { rtree } of this.#known.values()) rtree?.end();
    for (const { name } of this.#emptied) yield emptyIndex(name);
  }

  #fromSchema({ rows }: InsertedRows, at: string): Item[] {
    return rows.map(([type, name, , , sql]): Item => {
      const module = typeof sql === "string" ? moduleOf(sql) : null;
      if (type !== "table" || typeof name !== "string" || typeof sql !== "string" || module === null) {
        throw new NotTaken("only virtual tables may be written into the schema", at);
      }
      if (!allowedModules.has(module)) throw new NotTaken(`the module ${module} is not available`, at);
      this.#add(sql, name, module, module === "fts5" ? null : new DumpedRtree(name, sql, module));
      return { t: "object", type: "virtual", name, sql, at };
    });
  }

  #add(sql: string, name: string, module: string, rtree: DumpedRtree | null): void {
    const content = module === "fts5" ? contentOf(sql) : null;
    const columns = module === "fts5" ? ftsColumns(sql) : [];
    const fills = content === null ? "rows" : content === "" ? "nothing" : "rebuild";
    this.#known.set(foldName(name), { name, module, columns, fills, rtree });
  }

  #partOf(table: string): { readonly of: Dumped; readonly name: string } | null {
    const [, base = "", name = ""] = /^(.*)_([a-z]+)$/is.exec(table) ?? [];
    const of = this.#known.get(foldName(base));
    const parts = of?.module === "fts5" ? FTS5_PARTS : RTREE_PARTS;
    return of !== undefined && parts.includes(foldName(name)) ? { of, name: foldName(name) } : null;
  }
}

function storageItems(of: Dumped, part: string, { rows }: InsertedRows, at: string): Item[] {
  if (of.rtree !== null) {
    const boxes = of.rtree.take(part, rows, at);
    return boxes.length === 0 ? [] : [{ t: "rows", table: of.name, columns: null, rows: boxes, at }];
  }
  if (part === "config") {
    return rows.flatMap(([name = null, value = null]): Item[] =>
      typeof name !== "string" || name === "version" ? [] : [{ t: "config", table: of.name, name, value }]
    );
  }
  if (part !== "content" || of.fills !== "rows") return [];
  const width = of.columns.length + 1;
  if (rows.some((row) => row.length < width)) throw new NotTaken(`rows of ${of.name} are damaged`, at);
  const rowid = freeRowidName([of.name, ...of.columns]);
  if (rowid === null) throw new NotTaken(`the columns of ${of.name} have all names of the row id`, at);
  const columns = [rowid, ...of.columns.map(quoted)];
  return [{ t: "rows", table: of.name, columns, rows: rows.map((row) => row.slice(0, width)), at }];
}

/** Settings and commands of a full-text table, as this service writes them. */
function commandItems(table: string, { rows }: InsertedRows, at: string): Item[] {
  return rows.map(([name = null, value]): Item => {
    if (typeof name !== "string") throw new NotTaken("a setting is damaged", at);
    if (value !== undefined) return { t: "config", table, name, value };
    if (name !== "rebuild") throw new NotTaken(`the command ${name} is no part of a dump`, at);
    return { t: "rebuild", table };
  });
}

function nameIn(sql: string): string {
  const tokens = sqlTokens(sql.slice(0, 5000));
  const at = tokens.findIndex(({ key }) => key === "TABLE");
  const skips = tokens[at + 1]?.key === "IF" ? 3 : 0;
  return (tokens[at + 1 + skips]?.text ?? "").replace(/^'(.*)'$/s, "$1");
}
