// `deno run -A tests/bench/different_statements.ts [--statements N] [--terms N]`: statements whose texts all differ, as
// of callers that write values into them. None may fail, and the memory of the service must not grow with their number.
// Before compiled statements were collected, 500 with 3,000 terms filled SQLite's memory for every database.
import { print } from "../testing/print.ts";
import { processMemory } from "./process_memory.ts";
import { fetchOptions } from "./bench_target.ts";
import { serviceTarget } from "./service_target.ts";

const AT_ONCE = 100;
const statements = option("--statements", 2000);
const terms = Array.from({ length: option("--terms", 3000) }, (_, at) => `number+${at}`).join();
const service = await serviceTarget();
try {
  let failed = 0;
  for (let sent = 0; sent < statements; sent += AT_ONCE) {
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => succeeds(sent + at)));
    failed += answers.filter((ok) => !ok).length;
    const memory = processMemory(service.pid);
    const megabytes = memory === null ? "?" : (memory.uniqueBytes / 1e6).toFixed(0);
    print(
      `${sent + AT_ONCE} statements: ${failed} failed (goal 0 ${failed === 0 ? "✓" : "✗"}), ${megabytes} MB`,
    );
  }
} finally {
  await service.stop();
}

async function succeeds(at: number): Promise<boolean> {
  const sql = `WITH one(number) AS (SELECT 1) SELECT ${at} FROM one WHERE number IN (${terms})`;
  const request = service.query({ sql, params: [] });
  const response = await fetch(service.url + request.path, fetchOptions(request));
  await response.body?.cancel();
  return response.ok;
}

function option(name: string, otherwise: number): number {
  const at = Deno.args.indexOf(name);
  return at < 0 ? otherwise : Number(Deno.args[at + 1]) || otherwise;
}
