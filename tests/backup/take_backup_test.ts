// Who may take a backup, and what the taking of one costs the service.
import { assertEquals } from "@std/assert";
import { FRESH_MS } from "../../lib/access/caller.ts";
import { signIn } from "../testing/person.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { backupWorld } from "./backup_world.ts";

const path = "/api/backup";

Deno.test("the operator takes a backup, by key or by a fresh session, and nobody else; a HEAD makes none", async () => {
  await using world = await backupWorld();
  const clock = new TurnableClock();
  await using app = await world.start({ clock });
  const acme = await app.namespace();
  const answerTo = async (headers: Record<string, string>, method = "GET") => {
    const response = await app.app.request(path, { method, headers });
    const text = await response.text();
    return { status: response.status, type: response.headers.get("content-type"), text };
  };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const admin = await signIn(app, { role: "admin" });
  const operator = await signIn(app, { role: "operator" });
  const statuses = [
    {},
    bearer(acme.token),
    { cookie: admin.cookie },
    { cookie: operator.cookie },
    bearer(app.operatorKey),
  ].map(async (headers) => (await answerTo(headers as Record<string, string>)).status);
  assertEquals((await Promise.all(statuses)).slice(0, 3), [401, 403, 403]);
  for (const headers of [{ cookie: operator.cookie }, bearer(app.operatorKey)]) {
    assertEquals((await answerTo(headers)).type, "application/x-tar");
  }
  assertEquals((await answerTo(bearer(app.operatorKey), "HEAD")).status, 405);
  assertEquals((await app.request("GET", `${path}?a=1`, { token: app.operatorKey })).status, 400);
  const audit = await app.request("GET", "/api/audit", { token: app.operatorKey });
  const acts = JSON.parse(audit.text).data.map(({ action }: { action: string }) => action);
  assertEquals(acts.filter((action: string) => action === "backup.taken").length, 4, audit.text);
  clock.turn(FRESH_MS);
  assertEquals(JSON.parse((await answerTo({ cookie: operator.cookie })).text).code, "sign_in_again");
});

Deno.test("two backups run at a time; whoever takes nothing holds no file, and gives way when gone", async () => {
  await using world = await backupWorld();
  await using app = await world.start();
  const take = () => app.app.request(path, { headers: { authorization: `Bearer ${app.operatorKey}` } });
  const [first, second] = await Promise.all([take(), take()]);
  const third = await take();
  assertEquals([first.status, second.status, third.status], [200, 200, 429]);
  assertEquals([third.headers.get("retry-after"), (await third.json()).code], ["10", "too_many_transfers"]);
  assertEquals(await Array.fromAsync(Deno.readDir(`${world.dataDir}/backups`)), []);
  await first.body?.cancel();
  const fourth = await take();
  assertEquals(fourth.status, 200);
  for (const { body } of [second, fourth]) await body?.cancel();
});

Deno.test("a damaged control plane is not backed up as if it were whole", async () => {
  await using world = await backupWorld();
  {
    await using app = await world.start();
    await app.namespace();
  }
  const kv = `${world.dataDir}/kv.sqlite3`;
  const bytes = await Deno.readFile(kv);
  // The pages behind the first.
  await Deno.writeFile(kv, bytes.fill(0x5a, 4096));
  const { code, text } = await world.command(["take", "b.tar"]);
  assertEquals([code, text], [
    1,
    "Not done: Restore the control plane from an earlier backup; its file is damaged",
  ]);
  assertEquals(await Array.fromAsync(Deno.readDir(world.folder), ({ name }) => name), ["data"]);
});

Deno.test("the command says what is wrong with its file and its address", async () => {
  await using world = await backupWorld();
  await (await world.start())[Symbol.asyncDispose]();
  const nowhere = await world.command(["take", "none/b.tar"]);
  assertEquals([nowhere.code, nowhere.text], [
    1,
    `Not done: Name a file in a folder that is there and can be written; ${world.folder}/none/b.tar cannot be made (NotFound)`,
  ]);
  // A port that was free a moment ago.
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const from = `http://127.0.0.1:${listener.addr.port}`;
  listener.close();
  const silent = await world.command(["take", "b.tar", "--from", from], {
    OPERATOR_KEY: "cub_op_0123456789",
  });
  assertEquals([silent.code, silent.text], [
    1,
    `Not done: Give --from as the address of a service that runs; ${from} does not answer`,
  ]);
});
