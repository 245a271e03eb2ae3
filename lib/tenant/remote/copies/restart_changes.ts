// Tells those who follow a database that another state has taken the place of the former one.
import { newestChangeQuery, restartChanges } from "../../../sql/service/change_rows.ts";
import { isReservedName, ownTablesQuery } from "../../../sql/words/service_tables.ts";
import type { RemoteContext } from "../server/remote_context.ts";
import { rowsAt, runOwn } from "../server/remote_context.ts";
import { integerOf, stringOf } from "../hrana/remote_values.ts";
import { chain, ownTransaction } from "../hrana/step_list.ts";
import { upgradeTables } from "../connection/read_schema.ts";

/** Where the former state is, null where it cannot be read; where the new one is. */
export interface Restarted {
  readonly from: string | null;
  readonly to: string;
  readonly nowMs: number;
}

/** Begins the changes of the new state behind those of the former one. Throws `RemoteFailure`. */
export async function restart(context: RemoteContext, { from, to, nowMs }: Restarted): Promise<void> {
  await upgradeTables(context, to);
  const names = new Set<string>();
  const read = async (location: string) => {
    const steps = [{ stmt: { sql: ownTablesQuery } }, { stmt: { sql: newestChangeQuery } }];
    const answers = await runOwn(context, { location, mode: "read" }, steps);
    for (const row of rowsAt(answers, 0)) names.add(stringOf(row[0]));
    const [place] = rowsAt(answers, 1);
    return place ? { seq: integerOf(place[0]), epoch: integerOf(place[1]) } : null;
  };
  const own = await read(to);
  const former = from === null ? null : await read(from);
  const tables = [...names].filter((name) => !isReservedName(name)).sort();
  const { steps, commit } = ownTransaction((list) => {
    for (const [sql, params] of restartChanges(former ?? own, { tables, nowMs })) chain(list, sql, params);
  });
  rowsAt(await runOwn(context, { location: to, mode: "write" }, steps), commit);
}
