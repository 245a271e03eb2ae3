// Stage "classify": understands every statement of the call before anything runs.
import { isPlainText } from "../core/plain_text.ts";
import { MAX_PARAMETERS } from "../core/limits.ts";
import {
  joinFacts,
  noEngineFacts,
  type StatementFacts,
  withCommands,
} from "../sql/grammar/statement_facts.ts";
import type { Syntax, Unread } from "../sql/grammar/syntax.ts";
import { type EngineFailure, plainFailure } from "../engine/engine_failure.ts";
import type {
  Misunderstood,
  QueryContext,
  QueryStatement,
  StatementDatabase,
  UnderstoodCall,
} from "./query_call.ts";

/** What the statements of a call are and touch. */
export interface Classified {
  readonly schemaVersion: number;
  /** The schema for which presumed facts hold, as one text: it stands for the version, which is not known then. */
  readonly schema?: string | undefined;
  readonly facts: readonly StatementFacts[];
  readonly misunderstood: Misunderstood | null;
}

/** A call and what its statements are. */
export function understand(
  { call, database, log }: Pick<UnderstoodCall, "call" | "database" | "log">,
  { schemaVersion, schema, facts, misunderstood }: Classified,
): UnderstoodCall {
  const canRun = misunderstood === null || (!call.atomic && facts.length > 0);
  const writes = call.migration !== undefined ||
    facts.some((one) => one.class === "write" || one.class === "schema");
  return { call, database, log, schemaVersion, schema, facts, misunderstood, canRun, writes };
}

/** Finds the facts of the statements, in order, up to the first that cannot be understood; at once where all are cached. */
export function classify(
  ctx: QueryContext,
  databaseId: string,
  database: StatementDatabase,
  statements: readonly QueryStatement[],
): Classified | Promise<Classified> {
  return knownFacts(ctx, databaseId, statements) ?? learnFacts(ctx, databaseId, database, statements);
}

/** The hot path: every text has been seen at the present schema version. */
export function knownFacts(
  ctx: QueryContext,
  databaseId: string,
  statements: readonly QueryStatement[],
): Classified | null {
  const facts: StatementFacts[] = [];
  let text: string | null = null;
  let known: StatementFacts | undefined;
  for (const { sql, params } of statements) {
    // The statements of a batch mostly have one text.
    if (sql !== text) known = ctx.facts.get(databaseId, text = sql);
    if (!known) return null;
    const failure = parameterFailure(known.parameterCount, params);
    if (failure && known.class !== "refused") {
      return {
        schemaVersion: ctx.facts.schemaVersion(databaseId),
        facts,
        misunderstood: { failure, verb: known.verb, target: known.target, code: null },
      };
    }
    // What follows a change of the schema means something else than it does now, and so does all of a call without
    // foreign keys: nothing cascades in it.
    if (known.class === "schema" && statements.length > 1) return null;
    facts.push(withCommands(known, params));
  }
  return { schemaVersion: ctx.facts.schemaVersion(databaseId), facts, misunderstood: null };
}

/**
 * What the statements are and touch, as the engine compiles them, one behind the other; kept for the next call with their
 * texts. A statement that cannot be understood is part of the answer, and no error. Errors: those of the store.
 */
export async function learnFacts(
  ctx: QueryContext,
  databaseId: string,
  database: StatementDatabase,
  statements: readonly QueryStatement[],
): Promise<Classified> {
  await ctx.facts.readAhead(statements.map(({ sql }) => sql));
  const { syntaxes, misunderstood } = readTexts(ctx, statements);
  const foreignKeysOff = syntaxes.some(({ syntax }) => syntax.pragma?.foreignKeysOff === true);
  const compiled = syntaxes.filter((entry) => needsEngine(entry.syntax));
  const inspection = await database.inspect(
    compiled.map(({ sql, syntax: { class: kind, tableAs } }) => ({
      sql,
      changesSchema: kind === "schema",
      tableAs,
    })),
    { foreignKeysOff },
  );
  ctx.facts.seen(databaseId, inspection.schemaVersion, inspection.schema);
  const facts: StatementFacts[] = [];
  let compiledCount = 0;
  let schemaChanged = false;
  for (const { sql, params, syntax } of syntaxes) {
    let engine = noEngineFacts;
    if (needsEngine(syntax)) {
      const own = inspection.facts[compiledCount++];
      if (own === undefined) {
        const failure = inspection.failure ?? unexplained;
        if (failure.kind === "denied") {
          facts.push(joinFacts({ ...syntax, class: "refused", refusal: failure.message }, noEngineFacts));
          continue;
        }
        return {
          schemaVersion: inspection.schemaVersion,
          facts,
          misunderstood: { failure, verb: syntax.verb, target: syntax.target, code: null },
        };
      }
      engine = own;
    }
    const joined = joinFacts(syntax, engine);
    if (!schemaChanged && !foreignKeysOff) ctx.facts.put(databaseId, inspection.schemaVersion, sql, joined);
    schemaChanged ||= joined.class === "schema";
    facts.push(withCommands(joined, params));
  }
  return { schemaVersion: inspection.schemaVersion, facts, misunderstood };
}

/**
 * Whether the engine may compile the statement: never a refused one, and no PRAGMA, which would run while it is
 * compiled.
 */
function needsEngine(syntax: Syntax): boolean {
  return syntax.class !== "refused" && syntax.pragma === null;
}

/** Reads the syntax of all texts, up to the first that cannot be read. */
function readTexts(ctx: QueryContext, statements: readonly QueryStatement[]) {
  const syntaxes: (QueryStatement & { readonly syntax: Syntax })[] = [];
  for (const { sql, params } of statements) {
    const result = ctx.facts.syntax(sql);
    if (!result.ok) return { syntaxes, misunderstood: textFailure(result) };
    const failure = parameterFailure(result.syntax.parameterCount, params);
    if (failure && result.syntax.class !== "refused") {
      return {
        syntaxes,
        misunderstood: { failure, verb: result.syntax.verb, target: result.syntax.target, code: null },
      };
    }
    syntaxes.push({ sql, params, syntax: result.syntax });
  }
  return { syntaxes, misunderstood: null };
}

/** Kinds of texts that are no syntax error. */
const textKinds: Readonly<Partial<Record<Unread["reason"], EngineFailure["kind"]>>> = {
  named_parameter: "parameter_mismatch",
  nul: "invalid_text",
  too_big: "too_big",
};

function textFailure({ reason, message }: Unread): Misunderstood {
  const code = reason === "no_statement" || reason === "multiple_statements" ? reason : null;
  const failure = plainFailure(textKinds[reason] ?? "syntax_error", message);
  return { failure, verb: "other", target: null, code };
}

/** Why the values do not fit a statement with so many placeholders; null where they do. */
export function parameterFailure(wanted: number, params: QueryStatement["params"]): EngineFailure | null {
  if (wanted > MAX_PARAMETERS) {
    return plainFailure("parameter_mismatch", `Use at most ${MAX_PARAMETERS} parameters in one statement`);
  }
  if (wanted !== params.length) {
    return plainFailure(
      "parameter_mismatch",
      `Send ${wanted} parameter${wanted === 1 ? "" : "s"}, not ${params.length}`,
    );
  }
  const invalid = params.findIndex((value) => typeof value === "string" && !isPlainText(value));
  return invalid < 0
    ? null
    : plainFailure("invalid_text", `Remove U+0000 and lone surrogates from parameter ${invalid + 1}`);
}

const unexplained: EngineFailure = plainFailure("unavailable", "the engine did not say why");
