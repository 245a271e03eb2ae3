// `deno run -A tests/bench/archive_moments.ts [seconds] [moments]`: writes one row after the other beside a load of inserts at
// eight connections with the archive on, then brings random moments back and compares each with what had been answered by then.
import { ArchivedWrites } from "../faults/archived_writes.ts";
import { print } from "../testing/print.ts";
import { startService } from "../testing/start_service.ts";

const SECONDS = Number(Deno.args[0] ?? 60);
const MOMENTS = Number(Deno.args[1] ?? 100);
const CONNECTIONS = 8;

const folder = await Deno.makeTempDir({ prefix: "bench_moments_" });
try {
  const settings = { ARCHIVE_URL: `file:${folder}/objects`, WELCOME_CREDIT_USD: "1000" };
  await using service = await startService({ folder: `${folder}/data`, settings });
  const token = /cub_live_\w+/.exec(service.output())?.[0] ?? "";
  const end = new Promise<void>((resolve) => setTimeout(resolve, SECONDS * 1000));
  const writes = new ArchivedWrites(500);
  writes.on(service);
  const state = { over: false, others: 0 };
  const query = async (sql: string) => {
    const answer = await fetch(`${service.url}/v1/db/demo/demo/query`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ sql }),
    });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.body?.cancel();
  };
  await query("CREATE TABLE other (id INTEGER PRIMARY KEY, note TEXT)");
  const other = async () => {
    for (; !state.over; state.others++) await query("INSERT INTO other (note) VALUES ('a note')");
  };
  end.then(() => state.over = true);
  await Promise.all([writes.until(end), ...Array.from({ length: CONNECTIONS }, other)]);
  const moments = writes.randomMoments(MOMENTS);
  const beganMs = performance.now();
  for (const atMs of moments) await writes.check(atMs);
  const ms = (performance.now() - beganMs) / MOMENTS;
  print(
    `${MOMENTS} random moments of ${SECONDS} s are right: ${writes.count} rows one after the other beside ` +
      `${state.others} inserts; ${ms.toFixed(0)} ms a moment`,
  );
  await service.stop();
} finally {
  await Deno.remove(folder, { recursive: true });
}
