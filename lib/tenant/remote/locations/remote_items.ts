// A location as items: its schema by the questions that files answer too, its rows page by page.
import type { EngineValue } from "../../../sql/words/sql_value.ts";
import type { StoredValue } from "../../../sql/words/stored_text.ts";
import type { Asked, Rows } from "../../transfer/child/asking.ts";
import { exactRow, exactSelect, type RowSource } from "../../transfer/child/engine_rows.ts";
import { planFile } from "../../transfer/child/file_plan.ts";
import { type Item, planSteps, type RowsItem, storageSource } from "../../transfer/child/items.ts";
import type { TableSource } from "../../transfer/child/table_source.ts";
import { losesInfinity } from "../hrana/hrana.ts";
import { fromHrana } from "../hrana/remote_values.ts";
import { type RemoteContext, rowsAt, runOwn } from "../server/remote_context.ts";
import { awaitWork } from "../../../core/run_work.ts";

/** Rows of the first page and at most, and about how many bytes later ones have: sqld sends some 10 MB at once. */
const FIRST_ROWS = 32;
const MAX_ROWS = 2000;
const PAGE_BYTES = 1_000_000;

/** The items of a location that nobody writes. Throws `RemoteFailure`. */
export async function* locationItems(context: RemoteContext, location: string): AsyncGenerator<Item> {
  const read = async (sql: string, params: Asked["params"]): Promise<Rows> => {
    const args = params.map((one) =>
      typeof one === "bigint"
        ? { type: "integer", value: String(one) } as const
        : { type: "text", value: one } as const
    );
    const asked = [{ stmt: { sql, args } }];
    const target = { location, mode: "read" } as const;
    let steps = await runOwn(context, target, asked);
    if (losesInfinity(steps)) steps = await runOwn(context, { ...target, binary: true }, asked);
    return rowsAt(steps, 0).map((row) => row.map(fromHrana));
  };
  const plan = await awaitWork(planFile(null, "UTF-8"), ({ sql, params }) => read(sql, params));
  for (const step of planSteps(plan)) {
    if (step.t !== "source") yield step;
    else yield* sourceItems(read, step.source);
  }
}

type Read = (sql: string, params: Asked["params"]) => Promise<Rows>;

async function* sourceItems(read: Read, source: TableSource): AsyncGenerator<RowsItem> {
  if (source.fills === "storage") {
    for (const { name, columns } of source.storage) {
      yield { t: "rows", table: name, columns, rows: [], storage: true };
      const pages = rowPages(read, storageSource(name, columns), null);
      for await (const rows of pages) yield { t: "rows", table: name, columns, rows, storage: true };
    }
    return;
  }
  const all = { ...source, columns: [...source.rowid ? [source.rowid] : [], ...source.columns], rowid: null };
  const columns = all.columns.map(({ target }) => target);
  for await (const rows of rowPages(read, all, source.key)) {
    yield { t: "rows", table: source.name, columns, rows };
  }
}

/** Pages by the integer `key`, or where there is none by their place. Throws `RemoteFailure`. */
async function* rowPages(read: Read, source: RowSource, key: string | null): AsyncGenerator<StoredValue[][]> {
  let above: bigint | null = null;
  let offset = 0;
  let strict = false;
  for (let limit = FIRST_ROWS;;) {
    const [sql, params] = pageQuery(source, key, { above, offset, limit, strict });
    let rows: Rows;
    try {
      rows = await read(sql, params);
    } catch (error) {
      // An answer may be too large, or hold text that is not UTF-8.
      if (limit === 1 && strict) throw error;
      if (limit === 1) strict = true;
      limit = Math.max(1, limit >> 3);
      continue;
    }
    const exact = rows.map((row) => exactRow(row, source.columns.length, "UTF-8"));
    if (exact.includes(null)) {
      strict = true;
      continue;
    }
    yield exact.flatMap((row) => row === null ? [] : [row]);
    if (rows.length < limit) return;
    const last = rows.at(-1)?.at(-1);
    if (typeof last === "bigint") above = last;
    offset += rows.length;
    limit = nextLimit(rows);
  }
}

/** One page: behind the row whose key is `above`, or behind `offset` rows. `strict`: also what is not UTF-8 comes whole. */
interface Page {
  readonly above: bigint | null;
  readonly offset: number;
  readonly limit: number;
  readonly strict: boolean;
}

function pageQuery(
  { columns, from, order }: RowSource,
  key: string | null,
  { above, offset, limit, strict }: Page,
): [sql: string, params: Asked["params"]] {
  const rows = `SELECT ${exactSelect(columns, strict)}, ${key ?? "0"} FROM ${from}`;
  const most = BigInt(limit);
  if (key === null) return [`${rows} ORDER BY ${order} LIMIT ? OFFSET ?`, [most, BigInt(offset)]];
  if (above === null) return [`${rows} ORDER BY ${order} LIMIT ?`, [most]];
  return [`${rows} WHERE ${key} > ? ORDER BY ${order} LIMIT ?`, [above, most]];
}

function nextLimit(rows: Rows): number {
  let bytes = 1;
  for (const row of rows) for (const value of row) bytes += sizeOf(value);
  return Math.max(1, Math.min(MAX_ROWS, rows.length * 8, Math.floor(PAGE_BYTES * rows.length / bytes)));
}

function sizeOf(value: EngineValue): number {
  return typeof value === "string" || value instanceof Uint8Array ? value.length : 8;
}
