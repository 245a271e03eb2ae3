// Fills a new location with items. The schema's texts have passed the gate when the file was built that the items come from.
import { AppError } from "../../../core/errors.ts";
import { quoteIdentifier as quoted, quoteText } from "../../../sql/words/quote.ts";
import { OddText, type StoredValue } from "../../../sql/words/stored_text.ts";
import type { Item, RowsItem } from "../../transfer/child/items.ts";
import type { HranaStep, HranaValue } from "../hrana/hrana.ts";
import { isInfinite, toHrana } from "../hrana/remote_values.ts";
import { type RemoteContext, runOwn } from "../server/remote_context.ts";

/** Values of one statement, and bytes of one request: sqld takes some megabytes. */
const MAX_VALUES = 8000;
const MAX_BYTES = 1_000_000;
/** Rows may come before those that they refer to. */
const LOOSE: HranaStep = { stmt: { sql: "PRAGMA foreign_keys = OFF" } };

/** Errors: `import_refused` for what the server cannot hold. Throws `RemoteFailure`. */
export async function fillLocation(
  context: RemoteContext,
  location: string,
  items: AsyncIterable<Item>,
): Promise<void> {
  let steps: HranaStep[] = [];
  let bytes = 0;
  const send = async () => {
    if (steps.length === 0) return;
    const sent = [LOOSE, { stmt: { sql: "BEGIN" } }, ...steps, { stmt: { sql: "COMMIT" } }];
    const binary = steps.some(({ stmt: { args = [] } }) => args.some(isInfinite));
    const results = await runOwn(context, { location, mode: "write", binary }, sent);
    const failed = results.find((one) => one?.ok === false);
    if (failed?.ok === false) {
      throw new AppError("import_refused", { issues: [{ path: "file", message: failed.message }] });
    }
    steps = [];
    bytes = 0;
  };
  for await (const item of items) {
    for (const step of stepsOf(item)) {
      const size = sizeOf(step);
      if (bytes + size > MAX_BYTES) await send();
      steps.push(step);
      bytes += size;
    }
  }
  await send();
}

function stepsOf(item: Item): HranaStep[] {
  switch (item.t) {
    case "object":
    case "statement":
      return [{ stmt: { sql: item.sql } }];
    case "rows":
      return rowSteps(item);
    case "sequence":
      return [
        { stmt: { sql: "DELETE FROM sqlite_sequence WHERE name = ?", args: [toHrana(item.table)] } },
        {
          stmt: {
            sql: "INSERT INTO sqlite_sequence VALUES (?, ?)",
            args: [item.table, item.value].map(toHrana),
          },
        },
      ];
    case "config": {
      const table = quoted(item.table);
      const args = [toHrana(item.name), hranaOf(item.value)];
      return [{ stmt: { sql: `INSERT INTO ${table}(${table}, rank) VALUES (?, ?)`, args } }];
    }
    case "rebuild": {
      const table = quoted(item.table);
      return [{ stmt: { sql: `INSERT INTO ${table}(${table}) VALUES (${quoteText("rebuild")})` } }];
    }
    case "version":
      return [{ stmt: { sql: `PRAGMA user_version = ${item.value}` } }];
    case "notKept":
      return [];
  }
}

/** A statement for as many rows as it has values. */
function rowSteps({ table, columns, rows }: RowsItem): HranaStep[] {
  const steps: HranaStep[] = [];
  const names = columns === null ? "" : `(${columns.join(", ")})`;
  for (let start = 0; start < rows.length;) {
    const texts: string[] = [];
    const args: HranaValue[] = [];
    let bytes = 0;
    for (; start < rows.length; start++) {
      const row = rows[start] ?? [];
      if (texts.length > 0 && (args.length + row.length > MAX_VALUES || bytes > MAX_BYTES / 2)) break;
      texts.push(`(${row.map((value) => value instanceof OddText ? "CAST(? AS TEXT)" : "?").join(", ")})`);
      for (const value of row) {
        const arg = hranaOf(value);
        bytes += lengthOf(arg);
        args.push(arg);
      }
    }
    steps.push({ stmt: { sql: `INSERT INTO ${quoted(table)}${names} VALUES ${texts.join(", ")}`, args } });
  }
  return steps;
}

function hranaOf(value: StoredValue): HranaValue {
  return toHrana(value instanceof OddText ? value.bytes : value);
}

function lengthOf(value: HranaValue): number {
  if (value.type === "text") return value.value.length;
  return value.type === "blob" ? value.base64.length : 12;
}

function sizeOf({ stmt: { sql, args = [] } }: HranaStep): number {
  return args.reduce((sum, arg) => sum + lengthOf(arg), sql.length);
}
