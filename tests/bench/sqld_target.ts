// sqld as its clients use it: one Hrana pipeline a request, its stream closed at the end.
import { startSqld } from "../testing/sqld.ts";
import type { BenchStatement, BenchTarget } from "./bench_target.ts";

const PATH = "/v2/pipeline";
const HEADERS = { "content-type": "application/json" };

/** null where there is no sqld for this machine. */
export async function sqldTarget(): Promise<BenchTarget | null> {
  const sqld = await startSqld({ required: false });
  if (!sqld) return null;
  return {
    name: "sqld",
    note: "0.24, inserts not synced to disk",
    url: sqld.url,
    pid: sqld.pid,
    query: (statement) => pipeline({ type: "execute", stmt: hrana(statement) }),
    transaction: (statements) => {
      const stmts = [{ sql: "BEGIN IMMEDIATE" }, ...statements.map(hrana), { sql: "COMMIT" }];
      const steps = stmts.map((stmt, at) =>
        at === 0 ? { stmt } : { stmt, condition: { type: "ok", step: at - 1 } }
      );
      return pipeline({ type: "batch", batch: { steps } });
    },
    stop: () => sqld.stop(),
  };
}

function pipeline(request: unknown) {
  return { path: PATH, headers: HEADERS, body: JSON.stringify({ requests: [request, { type: "close" }] }) };
}

function hrana({ sql, params }: BenchStatement) {
  const args = params.map((value) =>
    typeof value === "number" ? { type: "integer", value: String(value) } : { type: "text", value }
  );
  return { sql, args };
}
