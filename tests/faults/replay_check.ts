// What must be true of the database and of the money after any number of kills under `ReplayLoad`.
import { ACCOUNTS, OPENING, type ReplayLoad, TABLES } from "./replay_load.ts";

/** One SELECT in the database under load; its rows. */
export type Select = (sql: string, params?: readonly unknown[]) => Promise<unknown[][]>;

export interface ReplayFigures {
  readonly acknowledged: number;
  readonly retries: number;
  readonly replays: number;
  readonly unsure: number;
  /** Acknowledged rows that are not there. */
  readonly lost: number;
  /** Keys whose call ran more than once. */
  readonly twice: number;
  /** Accounts that do not have what the moves say, and the sum's difference. */
  readonly torn: number;
  /** Audit rows without their mutation or the other way round. */
  readonly unaudited: number;
  readonly wrong: readonly string[];
}

const PAGE = 5000;

export async function replayCheck(load: ReplayLoad, select: Select): Promise<ReplayFigures> {
  let [lost, twice, rows] = [0, 0, 0];
  for (const table of ["entries", "moves", "plain"] as const) {
    const seen = new Set<unknown>();
    for (let after = 0;;) {
      const page = await select(
        `SELECT rowid, key FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${PAGE}`,
        [after],
      );
      for (const [, key] of page) {
        if (seen.has(key)) twice++;
        seen.add(key);
      }
      rows += page.length;
      if (page.length < PAGE) break;
      after = Number(page.at(-1)?.[0]);
    }
    for (const key of load.acknowledged[table]) if (!seen.has(key)) lost++;
  }
  const { entries, moves, plain } = load.acknowledged;
  return {
    acknowledged: entries.size + moves.size + plain.size,
    ...{ retries: load.retries, replays: load.replays, unsure: load.unsure },
    ...{ lost, twice, torn: await torn(select), unaudited: await unaudited(select, rows + TABLES.length) },
    wrong: load.wrong,
  };
}

async function torn(select: Select): Promise<number> {
  const [[accounts, sum] = []] = await select(
    `SELECT count(*), sum(amount) FROM accounts WHERE amount =
       ${OPENING} - (SELECT coalesce(sum(amount), 0) FROM moves WHERE source = accounts.id)
       + (SELECT coalesce(sum(amount), 0) FROM moves WHERE target = accounts.id)`,
  );
  return ACCOUNTS - Number(accounts) + Math.abs(ACCOUNTS * OPENING - Number(sum));
}

async function unaudited(select: Select, mutations: number): Promise<number> {
  const [[audits, withoutLog, withoutAudit] = []] = await select(
    `SELECT (SELECT count(*) FROM _service_meta_audit),
       (SELECT count(*) FROM _service_meta_audit a
         WHERE NOT EXISTS (SELECT 1 FROM _service_meta_query_log q WHERE q.id = a.query_log_id)),
       (SELECT count(*) FROM _service_meta_query_log q
         WHERE q.status = 'ok' AND q.rows_written > 0
         AND q.id NOT IN (SELECT query_log_id FROM _service_meta_audit))`,
  );
  return Math.abs(Number(audits) - mutations) + Number(withoutLog) + Number(withoutAudit);
}
