// Understands the statements of a call that runs next. Of a database that nobody has asked yet in this process the facts are
// presumed: those that the statements had in another database. They count only where the store finds the same schema, before
// it runs anything; otherwise they are learned.
import { roleAtLeast } from "../core/role.ts";
import { type StatementFacts, withCommands } from "../sql/grammar/statement_facts.ts";
import { type Classified, knownFacts, learnFacts, parameterFailure } from "./classify.ts";
import type { QueryCall, QueryContext, StatementDatabase } from "./query_call.ts";

/** As `classify` does it. */
export function classifyCall(
  ctx: QueryContext,
  call: QueryCall,
  database: StatementDatabase,
): Classified | Promise<Classified> {
  const { target: { databaseId }, statements } = call;
  return knownFacts(ctx, databaseId, statements) ?? presumedFacts(ctx, call) ??
    learnFacts(ctx, databaseId, database, statements);
}

/**
 * Null where the database is known, where no schema is likely, and where anything but a read that the caller may run would
 * follow: what is refused, held or written is decided by the database's own facts.
 */
function presumedFacts(ctx: QueryContext, call: QueryCall): Classified | null {
  const { target: { databaseId, role }, statements } = call;
  if (call.dryRun || call.paramSets !== null || call.migration || call.migrations) return null;
  const likely = ctx.facts.likelySchema(databaseId, statements[0]?.sql ?? "");
  if (likely === null) return null;
  const facts: StatementFacts[] = [];
  for (const { sql, params } of statements) {
    const known = likely.facts(sql);
    const isFree = known?.class === "read" && known.role !== null && roleAtLeast(role, known.role);
    if (!isFree || parameterFailure(known.parameterCount, params) !== null) return null;
    facts.push(withCommands(known, params));
  }
  return { schemaVersion: -1, schema: likely.text, facts, misunderstood: null };
}
