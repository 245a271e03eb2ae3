// `deno run -A tests/bench/cold_start.ts`: the service as Deno Deploy starts it (network and environment only, KV and sqld
// there already), from the start command to the first answer and to the first answered query, with either engine of the
// gate, beside a bare `Deno.serve` under the same permissions. `--rounds N` (7).
import { inTurn } from "../deploy/instance_api.ts";
import { openStage } from "../deploy/rehearsal.ts";
import { print } from "../testing/print.ts";
import { median } from "./median.ts";
import { serverProcess } from "./server_process.ts";

const rounds = Number(Deno.args[Deno.args.indexOf("--rounds") + 1]) || 7;
const BARE = `data:text/javascript,${
  encodeURIComponent("Deno.serve({ onListen() {} }, () => new Response('hello'))")
}`;

await using stage = await openStage();
if (stage === null) throw new Error("no sqld for this machine");
const first = await stage.start();
const { token, database } = await inTurn(stage.operatorKey, [first]).namespace("cold");
await first.stop();

print(`bare server, first answer: ${median(await times(rounds, bareStart)).toFixed(0)} ms`);
for (const engine of ["node", "wasm"]) {
  const ready: number[] = [];
  const queried: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const instance = await stage.start({ GATE_ENGINE: engine });
    const askedMs = performance.now();
    const { request } = inTurn(stage.operatorKey, [instance]);
    const body = { sql: "SELECT count(*) FROM sqlite_schema" };
    const { status, text } = await request("POST", `${database.path}/query`, { token, body });
    if (status !== 200) throw new Error(text);
    ready.push(instance.readyMs);
    queried.push(instance.readyMs + performance.now() - askedMs);
    await instance.stop();
  }
  print(
    `GATE_ENGINE=${engine}: ready after ${median(ready).toFixed(0)} ms, first query after ${
      median(queried).toFixed(0)
    } ms`,
  );
}

async function bareStart(): Promise<void> {
  const server = await serverProcess({
    command: Deno.execPath(),
    args: () => ["run", "--no-prompt", "--allow-net", "--allow-env", BARE],
    env: (port) => ({ DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}` }),
    healthPath: "/",
  });
  await server.stop();
}

async function times(count: number, work: () => Promise<void>): Promise<number[]> {
  const found: number[] = [];
  for (let at = 0; at < count; at++) {
    const startedMs = performance.now();
    await work();
    found.push(performance.now() - startedMs);
  }
  return found;
}
