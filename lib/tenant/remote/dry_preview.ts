// Rows that an UPDATE or DELETE of one table affects, before and after, found by the keys that the statement returns.
import { MAX_COMPARED, movedKeys } from "../../engine/moved_rows.ts";
import { keysThere, PREVIEW_ROWS, returningKeys, selectByKeys } from "../../engine/row_preview.ts";
import type { RowPreview } from "../../engine/statement_effect.ts";
import type { TenantStatement } from "../tenant_store.ts";
import type { DryTransaction } from "./dry_transaction.ts";
import type { StepResult } from "./hrana/hrana.ts";
import { hranaValue, jsonValue, stringOf } from "./hrana/remote_values.ts";
import type { DryTarget } from "./gate/schema_gate.ts";

const UNDO = { sql: "ROLLBACK TO effect" };
const COLUMNS = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1";

/** Undoes the statement behind the savepoint `effect` and leaves it undone; null where nothing can be shown. */
export async function dryPreview(
  transaction: DryTransaction,
  { sql, params }: Pick<TenantStatement, "sql" | "params">,
  { target, unmoved }: DryTarget,
  integersAsStrings: boolean,
): Promise<RowPreview | null> {
  const args = params.slice(0, target.parameters).map(hranaValue);
  // An UPDATE that moves rows is run with its keys left alone as well: so it tells where they were.
  const still = unmoved
    ? {
      sql: returningKeys(unmoved.sql, { keys: target.keys, end: unmoved.sql.length }),
      args: unmoved.params.map(hranaValue),
    }
    : { sql: "SELECT 1 WHERE 0" };
  const [, before, , after] = await transaction.send([
    UNDO,
    still,
    UNDO,
    { sql: returningKeys(sql, target), args },
  ]);
  const met = keysIn(before);
  const found = keysIn(after);
  if (found.length === 0) return null;
  const moved = unmoved === null || met.length === found.length
    ? met
    : await movedOf(transaction, target, met, found);
  if (moved === null) return null;
  const shown = found.slice(0, PREVIEW_ROWS);
  const earlier = unmoved ? moved.slice(0, PREVIEW_ROWS) : shown;
  // Pairs stay side by side where the key itself changes; otherwise the key's order reads better.
  const selects = (keys: readonly string[]) =>
    (unmoved ? keys.map((key) => [key]) : [keys]).map((group) => ({ sql: selectByKeys(target, group) }));
  const afterSelects = target.verb === "DELETE" ? [] : selects(shown);
  const beforeSelects = selects(earlier);
  const steps = await transaction.send([
    ...afterSelects,
    UNDO,
    ...beforeSelects,
    { sql: COLUMNS, args: [hranaValue(target.table)] },
  ]);
  const rowsOf = (some: readonly (StepResult | undefined)[]) =>
    some.flatMap((step) => step?.ok ? step.rows : []).map((row) =>
      row.map((value) => jsonValue(value, integersAsStrings))
    );
  const columns = steps.at(-1);
  return {
    table: target.table,
    columns: columns?.ok ? columns.rows.map((row) => stringOf(row[0])) : [],
    before: rowsOf(steps.slice(afterSelects.length + 1, -1)),
    after: rowsOf(steps.slice(0, afterSelects.length)),
  };
}

/** Of the rows that the statement met those that it has moved; the statement has just run. */
async function movedOf(
  transaction: DryTransaction,
  target: DryTarget["target"],
  met: readonly string[],
  after: readonly string[],
): Promise<readonly string[] | null> {
  if (met.length === 0 || met.length > MAX_COMPARED) return null;
  const [there] = await transaction.send([{ sql: keysThere(target, met) }]);
  return movedKeys(met, after, keysIn(there));
}

function keysIn(step: StepResult | undefined): string[] {
  return step?.ok ? step.rows.map((row) => stringOf(row[0])) : [];
}
