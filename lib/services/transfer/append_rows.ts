// Appends the rows of a CSV or NDJSON file to a table, some thousands in a transaction, each through the pipeline that every
// write passes.
import { requireRole } from "../../access/caller.ts";
import { replayScope, requireReplayKey } from "../../access/replay_scope.ts";
import type { Target } from "../../access/resolve_target.ts";
import { AppError } from "../../core/errors.ts";
import { importLimits } from "../../core/limits_of_transfers.ts";
import { plainCall } from "../../query/plain_call.ts";
import { run } from "../../query/run.ts";
import type { CallReplay } from "../../query/query_call.ts";
import { quoteIdentifier as quoted } from "../../sql/quote.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { readTable, type TableDefinition } from "../schema/read_table.ts";
import { refused } from "./check_item.ts";
import { csvRows, type FileRow, jsonRows, type RowsReader } from "./file_rows.ts";
import type { Imported } from "./import_file.ts";
import { uploadPieces } from "./spool_upload.ts";

/** What appending needs of a request. */
export interface AppendContext extends StatementsContext {
  readonly target: Target;
}

/** Rows for a table. */
export interface AppendInput {
  readonly format: "csv" | "ndjson";
  readonly table: string;
  /** Sent again with the same rows, those that are there already are left out. */
  readonly id: string | null;
  readonly body: ReadableStream<Uint8Array> | null;
}

/**
 * Rows of transactions before one that fails stay, and its failure tells how many (`rows`). Errors: `role_too_low`,
 * `import_refused`, those of `uploadPieces` and of the pipeline.
 */
export async function appendRows(ctx: AppendContext, input: AppendInput): Promise<Imported> {
  requireRole(ctx.target, "admin");
  if (input.id !== null) requireReplayKey("id", input.id);
  const table = await readTable(ctx, input.table);
  if (table === null || table.kind === "view") {
    throw new AppError("import_refused", { issues: [{ path: "table", message: "there is no such table" }] });
  }
  const read = input.format === "csv" ? csvRows(table) : jsonRows(table);
  let rows = 0;
  // While one part is written, the next one is read.
  let writing: Promise<unknown> = Promise.resolve();
  try {
    for await (const part of parts(ctx, input, read)) {
      await writing;
      writing = append(ctx, { table, part, first: rows, id: input.id }).then(() => rows += part.length);
      writing.catch(() => {});
    }
    await writing;
  } catch (later) {
    // A part that cannot be written stands before what could not be read.
    const error = await writing.then(() => later, (earlier) => earlier);
    if (!(error instanceof AppError) || rows === 0) throw error;
    throw new AppError(error.code, {
      ...error.facts,
      ...(error.code === "import_refused" ? { message: staying(rows) } : {}),
      extra: { ...error.facts.extra, rows },
    });
  }
  return { tables: 1, rows, notKept: [], snapshot: null };
}

function staying(rows: number): string {
  return `Correct the file and send what follows its first ${rows} rows; those are in, and nothing else has changed`;
}

/** The rows in parts that are the same each time, however the file comes in. Errors: `import_refused`. */
async function* parts(
  { clock }: AppendContext,
  { body }: AppendInput,
  read: RowsReader,
): AsyncGenerator<FileRow[]> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (piece?: Uint8Array) => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      throw refused("the text is not UTF-8");
    }
  };
  const growing = new GrowingPart();
  for await (const piece of uploadPieces(body, clock)) {
    for (const row of read(decode(piece), false)) yield* growing.add(row);
  }
  for (const row of read(decode(), true)) yield* growing.add(row);
  yield* growing.take();
}

class GrowingPart {
  #rows: FileRow[] = [];
  #bytes = 0;

  *add(row: FileRow): Generator<FileRow[]> {
    const [first] = this.#rows;
    const joins = first?.columns === row.columns && this.#rows.length < importLimits.rowsAtOnce &&
      this.#bytes < importLimits.bytesAtOnce;
    if (!joins) yield* this.take();
    this.#rows.push(row);
    for (const value of row.values) this.#bytes += typeof value === "string" ? value.length : 8;
  }

  *take(): Generator<FileRow[]> {
    if (this.#rows.length > 0) yield this.#rows;
    this.#rows = [];
    this.#bytes = 0;
  }
}

interface Part {
  readonly table: TableDefinition;
  readonly part: readonly FileRow[];
  /** How many rows of the file are before it. */
  readonly first: number;
  readonly id: string | null;
}

async function append(ctx: AppendContext, { table, part, first, id }: Part): Promise<void> {
  const columns = part[0]?.columns ?? [];
  const sql = `INSERT INTO ${quoted(table.name)} (${columns.map(quoted).join(", ")}) ` +
    `VALUES (${columns.map(() => "?").join(", ")})`;
  const paramSets = part.map(({ values }) => values);
  const { target, tokenId } = ctx;
  const statements = [{ sql, params: paramSets[0] ?? [] }];
  const replay = id === null ? null : replayOf(ctx, { id, first, content: JSON.stringify([sql, paramSets]) });
  try {
    await run(
      ctx,
      plainCall({ target, tokenId, operation: "import", statements }, { paramSets, replay, batch: true }),
    );
  } catch (error) {
    throw withLine(error, part);
  }
}

function replayOf(
  { target, tokenId }: AppendContext,
  { id, first, content }: { readonly id: string; readonly first: number; readonly content: string },
): CallReplay {
  const scope = ["import", tokenId, target.databaseId, id, String(first)];
  return { idempotency: replayScope(scope, content), plan: null };
}

/** Of a row that the engine has refused, its line. */
function withLine(error: unknown, part: readonly FileRow[]): unknown {
  if (!(error instanceof AppError)) return error;
  const index = error.facts.extra?.["failedIndex"];
  const line = typeof index === "number" ? part[index]?.line : undefined;
  if (line === undefined) return error;
  return new AppError(error.code, {
    ...error.facts,
    issues: [{ path: `line ${line}`, message: error.message }],
  });
}
