// Answers a question in plain language with one checked, read-only statement over the endpoint's tables.
import type { EndpointSpec } from "../../core/endpoint_spec.ts";
import { AppError } from "../../core/errors.ts";
import { beginning } from "../../core/plain_text.ts";
import type { JsonValue } from "../../engine/statement_effect.ts";
import { classify } from "../../query/classify.ts";
import { plainCall } from "../../query/plain_call.ts";
import type {
  QueryAnswer,
  QueryContext,
  QueryMeta,
  QueryStatement,
  QueryTarget,
} from "../../query/query_call.ts";
import { runForSession } from "../../query/run_for_session.ts";
import { PLAIN_ROWS, type RowForm } from "../../sql/words/row_form.ts";
import type { StatementFacts } from "../../sql/grammar/statement_facts.ts";
import { readResult } from "../query/read_result.ts";
import { boundRows, checkStatement, describeFacts } from "./check_statement.ts";
import type { AskModel, AskProposal, AskRequest, Refusal } from "./model/ask_model.ts";
import { readAskSchema } from "./model/ask_schema.ts";
import { findValues } from "./model/find_values.ts";

/** Rows of an answer unless the specification says otherwise. */
const DEFAULT_ROWS = 100;
/** How often a checked statement starts over because the schema changed meanwhile. */
const MAX_STALE = 3;
const MAX_EXPLANATION = 500;

/** The process's parts, and who asks. */
export interface AskContext extends QueryContext {
  readonly askModel: AskModel;
  readonly tokenId: string;
  /** From the verified session; null for a public call. */
  readonly userId: string | null;
}

/** A question to an endpoint. */
export interface AskInput {
  readonly target: QueryTarget;
  /** Its kind is `ask`, and it has an `askConfig`. */
  readonly spec: EndpointSpec;
  readonly question: string;
  readonly rowForm?: RowForm;
  readonly signal: () => AbortSignal | null;
  /** A statement that must succeed before the question's own; null where there is none. */
  readonly guard?: QueryStatement | null;
  /** Called with the figures of the statement once it has run, for the call's record. */
  readonly ran?: (meta: QueryMeta) => void;
}

/** The body of the `answer` output. */
export interface AskAnswer {
  readonly sql: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly JsonValue[])[];
  readonly explanation: string;
}

/** A question with what it takes to answer it. */
interface Asked {
  readonly ctx: AskContext;
  readonly input: AskInput;
  readonly target: QueryTarget;
  readonly allowedTables: readonly string[];
  readonly maxRows: number;
}

type Attempt =
  | { readonly ok: true; readonly answer: AskAnswer }
  | { readonly ok: false; readonly sql: string } & Refusal;

/**
 * The answer, of at most `maxRows` rows. Errors: `ask_refused` (not understood, or not one statement that reads
 * `allowedTables` and nothing else), those of the model, and those of the pipeline.
 */
export async function answerQuestion(ctx: AskContext, input: AskInput): Promise<AskAnswer> {
  const { askConfig } = input.spec;
  if (askConfig === undefined) throw new TypeError("the endpoint has no askConfig");
  const asked: Asked = {
    ctx,
    input,
    allowedTables: askConfig.allowedTables,
    // Whoever asks, the statement may only read.
    target: { ...input.target, role: "read" },
    maxRows: askConfig.maxRows ?? DEFAULT_ROWS,
  };
  const request = await requestOf(asked, askConfig.context ?? "");
  const first = await attempt(asked, await ctx.askModel.propose(request));
  if (first.ok) return first.answer;
  if (!ctx.askModel.repairs || first.sql === "") throw refused(first);
  const second = await attempt(asked, await ctx.askModel.propose({ ...request, failed: first }));
  if (second.ok) return second.answer;
  throw refused(second);
}

async function requestOf(asked: Asked, context: string): Promise<AskRequest> {
  const { ctx, input, target, allowedTables, maxRows } = asked;
  const statements = { ...ctx, target };
  const schema = await readAskSchema(statements, allowedTables);
  return {
    question: input.question,
    schema,
    context,
    maxRows,
    failed: null,
    signal: input.signal(),
    payer: target,
    nowMs: ctx.clock.now(),
    findValues: (phrases) => findValues(statements, schema, phrases),
  };
}

/** Runs the proposed statement if it may run. A failure that a better statement could avoid is no error yet. */
async function attempt(asked: Asked, proposal: AskProposal): Promise<Attempt> {
  if (!proposal.ok) return { ...proposal, sql: "" };
  const { sql } = proposal;
  const bounded = boundRows(asked.ctx.facts, sql, asked.maxRows + 1);
  if (bounded === null) return { ok: false, sql, reason: "the text is not one SELECT" };
  for (let turn = 0; turn < MAX_STALE; turn++) {
    const checked = await check(asked, sql, bounded);
    if (!checked.ok) return { ok: false, sql, reason: checked.reason };
    const ran = await runChecked(asked, bounded);
    if (typeof ran === "string") return { ok: false, sql, reason: ran };
    // The schema changed after the check, so the rows may come from other tables: nobody sees them.
    if (asked.ctx.facts.schemaVersion(asked.target.databaseId) !== checked.schemaVersion) continue;
    asked.input.ran?.(ran.meta);
    return { ok: true, answer: toAnswer(asked, proposal, checked.facts, ran) };
  }
  throw new AppError("database_busy", { message: "Try again shortly; the schema keeps changing" });
}

type Checked =
  | { readonly ok: true; readonly facts: StatementFacts; readonly schemaVersion: number }
  | { readonly ok: false; readonly reason: string };

/** Compiles the text as it was proposed and as it will run. Neither runs here. */
async function check({ ctx, target, allowedTables }: Asked, sql: string, bounded: string): Promise<Checked> {
  const database = ctx.tenants.open(target);
  const statements = [{ sql, params: [] }, { sql: bounded, params: [] }];
  const { facts, misunderstood, schemaVersion } = await classify(
    ctx,
    target.databaseId,
    database,
    statements,
  );
  if (misunderstood !== null) {
    return { ok: false, reason: `the engine says: ${misunderstood.failure.message}` };
  }
  for (const one of facts) {
    const reason = checkStatement(one, allowedTables);
    if (reason !== null) return { ok: false, reason };
  }
  const [own] = facts;
  if (own === undefined || facts.length !== statements.length) {
    return { ok: false, reason: "the text is not one SELECT" };
  }
  return { ok: true, facts: own, schemaVersion };
}

/** The answer of the pipeline, or what is wrong with the statement in the engine's words. */
async function runChecked(
  { ctx, input, target, maxRows }: Asked,
  sql: string,
): Promise<QueryAnswer | string> {
  const call = plainCall(
    { target, tokenId: ctx.tokenId, operation: "endpoint", statements: [{ sql, params: [] }] },
    { userId: ctx.userId, rowForm: input.rowForm ?? PLAIN_ROWS, signal: input.signal },
  );
  try {
    return await runForSession(
      { ...ctx, bounds: { ...ctx.bounds, rows: maxRows + 1 } },
      call,
      input.guard ?? null,
    );
  } catch (error) {
    if (error instanceof AppError && (error.code === "sql_error" || error.code === "statement_refused")) {
      return `the engine says: ${error.message}`;
    }
    throw error;
  }
}

function toAnswer(
  { maxRows }: Asked,
  proposal: Extract<AskProposal, { ok: true }>,
  facts: StatementFacts,
  { results }: QueryAnswer,
): AskAnswer {
  const { columns, rows } = readResult(results[0]?.json);
  const said = beginning(proposal.explanation?.trim() ?? "", MAX_EXPLANATION);
  const explanation = said || describeFacts(facts);
  return {
    sql: proposal.sql,
    columns,
    rows: rows.slice(0, maxRows),
    explanation: rows.length > maxRows
      ? `${explanation.replace(/[^.!?]$/, "$&.")} Only the first ${
        maxRows === 1 ? "row is" : `${maxRows} rows are`
      } shown.`
      : explanation,
  };
}

/** The engine's words are for the model only: they may repeat a part of the text. */
function refused({ reason, schemaWords = "" }: Refusal): AppError {
  const plain = reason.startsWith("the engine says: ")
    ? "no statement came out that the engine understands"
    : reason;
  const told = `Ask another way; ${plain}`;
  return new AppError("ask_refused", { message: `${told}${schemaWords}`, told });
}
