// Tells what a statement takes and returns. It is compiled and never runs; a PRAGMA runs while it is compiled, so the table of
// its name is compiled in its place.
import { AppError } from "../../core/errors.ts";
import { typedColumns } from "../../engine/typed_result.ts";
import { authoriseFacts } from "../../query/authorise.ts";
import { misunderstoodError } from "../../query/call_error.ts";
import { classify } from "../../query/classify.ts";
import { isOutdated } from "../../query/is_outdated.ts";
import { answered, START_OVER, untilAnswered } from "../../query/pipeline.ts";
import { plainCall } from "../../query/plain_call.ts";
import type { InteractiveTransaction } from "../../query/transaction/interactive_transaction.ts";
import { numberPlaceholders } from "../../sql/tokens/named_placeholders.ts";
import { unknownValue } from "../../sql/words/sql_value.ts";
import type { Syntax } from "../../sql/grammar/syntax.ts";
import type { TransactionControl } from "../../sql/tokens/transaction_control.ts";
import { readText } from "./door_statement.ts";
import type { DoorContext } from "./hrana_types.ts";

/** Where a statement is described: in the database, or in a transaction that is open there. */
export type DescribePlace = Pick<InteractiveTransaction, "sees"> | null;

/**
 * `{"params":…,"cols":…,…}`, free of charge. Errors: those of a statement that cannot be understood, or that the caller
 * may not run.
 */
export async function describeText(ctx: DoorContext, place: DescribePlace, sql: string): Promise<string> {
  const text = readText(ctx.facts, sql);
  if (text.control !== null) {
    return described({ names: [], cols: "[]", explains: false, reads: touchesNothing(text.control) });
  }
  const { target, tokenId } = ctx;
  const syntax = text.read.ok ? text.read.syntax : null;
  const params = Array.from({ length: syntax?.parameterCount ?? 0 }, () => unknownValue);
  const call = plainCall({
    target,
    tokenId,
    operation: "query",
    statements: [{ sql: text.sql, params }],
  });
  const { facts, database } = place?.sees ??
    { facts: ctx.facts, database: ctx.tenants.open(target) };
  await untilAnswered(async () => {
    const classified = await classify({ ...ctx, facts }, target.databaseId, database, call.statements);
    const { misunderstood, schemaVersion } = classified;
    if (misunderstood) throw await misunderstoodError({ ...classified, misunderstood, call, database }, []);
    try {
      return answered(authoriseFacts({ call, facts: classified.facts }));
    } catch (error) {
      const understood = { call, database, schemaVersion };
      if (await isOutdated({ ctx: { facts }, understood }, error)) return START_OVER;
      throw error;
    }
  }, () => new AppError("database_busy"));
  if (syntax === null) throw new TypeError("what cannot be read has been refused");
  const statement = syntax.pragma === null
    ? { sql: text.sql, changesSchema: syntax.class === "schema", tableAs: syntax.tableAs }
    : { sql: `SELECT * FROM pragma_${syntax.pragma.name.toLowerCase()}`, changesSchema: false };
  const { columns = [] } = syntax.pragma?.sets
    ? {}
    : await database.inspect([statement], { foreignKeysOff: false, columns: true });
  return described({
    names: await namesOf(ctx, sql, syntax),
    cols: typedColumns(columns),
    explains: syntax.verb === "explain",
    reads: syntax.class === "read",
  });
}

/** As SQLite reports it: of these, only what takes the write slot at once is more than reading. */
function touchesNothing(control: TransactionControl): boolean {
  return control.verb !== "begin" || control.mode === "deferred" || control.mode === "readonly";
}

/** Null for `?` and for numbers that stand nowhere. */
async function namesOf(
  { facts }: Pick<DoorContext, "facts">,
  sql: string,
  { parameterCount }: Syntax,
): Promise<(string | null)[]> {
  if (parameterCount === 0) return [];
  await facts.readAhead([sql], "numbered");
  const { names } = facts.ahead("numbered", sql) ?? numberPlaceholders(sql);
  return Array.from({ length: parameterCount }, (_, at) => names[at] ?? null);
}

function described(
  { names, cols, explains, reads }: {
    readonly names: readonly (string | null)[];
    readonly cols: string;
    readonly explains: boolean;
    readonly reads: boolean;
  },
): string {
  const params = JSON.stringify(names.map((name) => ({ name })));
  return `{"params":${params},"cols":${cols},"is_explain":${explains},"is_readonly":${reads}}`;
}
