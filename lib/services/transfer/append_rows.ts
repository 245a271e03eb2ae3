// Appends the rows of a CSV or NDJSON file to a table: all of them in one transaction, or some thousands in each, through the
// pipeline that every write passes.
import { requireRole } from "../../access/caller.ts";
import { replayScope, requireReplayKey } from "../../access/replay_scope.ts";
import type { Target } from "../../access/resolve_target.ts";
import { AppError } from "../../core/errors.ts";
import { importLimits } from "../../core/limits_of_transfers.ts";
import { plainCall } from "../../query/plain_call.ts";
import { run } from "../../query/run.ts";
import type { CallReplay } from "../../query/query_call.ts";
import { OF_ROWS } from "../../sql/service/replay_rows.ts";
import type { StatementsContext } from "../query/run_statements.ts";
import { readTable, type TableDefinition } from "../schema/read_table.ts";
import { refused } from "./check_item.ts";
import { type FilePart, fileParts } from "./file_parts.ts";
import { csvRows, type FileRow, jsonRows } from "./file_rows.ts";
import type { Imported } from "./import_file.ts";
import { rowsStatement } from "./rows_statement.ts";

/** What appending needs of a request. */
export interface AppendContext extends StatementsContext {
  readonly target: Target;
  /** Finds the database once more. May throw: whoever asked may no longer reach it. */
  readonly again: () => Promise<unknown>;
}

/** Rows for a table. */
export interface AppendInput {
  readonly format: "csv" | "ndjson";
  readonly table: string;
  /** Sent again with the same rows, those that are there already are left out. */
  readonly id: string | null;
  /** A file that one transaction cannot take is refused. */
  readonly atomic: boolean;
  readonly body: ReadableStream<Uint8Array> | null;
}

/**
 * A file that one transaction can take comes in as a whole or not at all. Of a larger one rows of transactions before one that
 * fails stay, and its failure tells how many (`rows`). Errors: `role_too_low`, `import_refused`, `transaction_held` where a
 * rule wants an approval of a larger one, those of `uploadPieces`, of `again` and of the pipeline.
 */
export async function appendRows(ctx: AppendContext, input: AppendInput): Promise<Imported> {
  requireRole(ctx.target, "admin");
  const { id, format, body, atomic } = input;
  if (id !== null) requireReplayKey("id", id);
  const table = await readTable(ctx, input.table);
  if (table === null || table.kind === "view") {
    throw new AppError("import_refused", { issues: [{ path: "table", message: "there is no such table" }] });
  }
  const read = format === "csv" ? csvRows(table) : jsonRows(table);
  let rows = 0;
  let changed = 0;
  // While one part is written, the next one is read.
  let writing: Promise<unknown> = Promise.resolve();
  try {
    // A table without rows is exported as no lines.
    for await (const part of fileParts(ctx.clock, { body, read, mayBeEmpty: format === "ndjson" })) {
      if (atomic && !part.isWhole) {
        throw refused(`${ONE_TRANSACTION}; leave out atomic=1, or send it in several files`);
      }
      await writing;
      // A file may take days to come in.
      await ctx.again();
      writing = append(ctx, { table, part, id, changed }).then((rowsChanged) => {
        changed += rowsChanged;
        rows += part.rows.length;
      });
      writing.catch(() => {});
    }
    await writing;
  } catch (later) {
    // A part that cannot be written stands before what could not be read.
    const error = await writing.then(() => later, (earlier) => earlier);
    if (!(error instanceof AppError) || rows === 0) throw error;
    throw error.with({
      ...(error.code === "import_refused" ? { message: staying(rows) } : {}),
      extra: { rows },
    });
  }
  return { tables: 1, rows, notKept: [], snapshot: null };
}

const ONE_TRANSACTION = `the file has more than one transaction takes, ${importLimits.rowsAtOnce} rows or ` +
  `${importLimits.bytesAtOnce / 1024 ** 2} MB`;

function staying(rows: number): string {
  return `Correct the file and send what follows its first ${rows} rows; those are in, and nothing else has changed`;
}

interface Part {
  readonly table: TableDefinition;
  readonly part: FilePart;
  readonly id: string | null;
  /** Rows that the parts before it have changed. */
  readonly changed: number;
}

/** Returns how many rows have changed, with what triggers have changed and conflicts have replaced. */
async function append(ctx: AppendContext, { table, part, id, changed }: Part): Promise<number> {
  const { rows, first, isWhole } = part;
  const { sql, paramSets } = rowsStatement(table, rows);
  const { target, tokenId } = ctx;
  const statements = [{ sql, params: paramSets[0] ?? [] }];
  const replay = id === null ? null : replayOf(ctx, { id, first, content: JSON.stringify([sql, paramSets]) });
  try {
    const { meta, rowsRemoved = 0 } = await run(
      ctx,
      plainCall({ target, tokenId, operation: "import", statements }, {
        paramSets,
        replay,
        batch: true,
        rowsBefore: changed,
        // Nobody can approve a part of a file.
        ...(isWhole ? {} : { heldAs: "never" }),
      }),
    );
    return meta.rowsWritten + rowsRemoved;
  } catch (error) {
    throw withLine(error, rows);
  }
}

function replayOf(
  { target, tokenId }: AppendContext,
  { id, first, content }: { readonly id: string; readonly first: number; readonly content: string },
): CallReplay {
  const scope = ["import", tokenId, target.databaseId, id, String(first)];
  const { key, requestHash } = replayScope(scope, content);
  return { idempotency: { key, requestHash: `${OF_ROWS}${requestHash}` }, plan: null };
}

/** The file has no statement that could say what else is to be done. */
const TAKEN =
  "Take the line out of the file, or give it another value; in place of the row that has it, delete that row first";

/** Of a row that the engine has refused, its line. */
function withLine(error: unknown, rows: readonly FileRow[]): unknown {
  if (!(error instanceof AppError)) return error;
  if (error.code === "transaction_held") {
    const message =
      `Send files of at most ${importLimits.rowsAtOnce} rows; a rule has a person approve these, and one ` +
      "approval is for one transaction";
    return error.with({ message });
  }
  const index = error.facts.extra?.["failedIndex"];
  const line = typeof index === "number" ? rows[index]?.line : undefined;
  if (line === undefined) return error;
  const { detail } = error.facts;
  return error.with({
    ...(detail?.kind === "unique_violation" ? { detail: { ...detail, hint: TAKEN } } : {}),
    issues: [{ path: `line ${line}`, message: error.message }],
  });
}
