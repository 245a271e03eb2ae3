// Backups of the real service, with the permissions of `deno task start`, while it is written.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { pause } from "../../lib/core/pause.ts";
import { checkMoney } from "../../lib/services/backup/check_money.ts";
import { unpackBackup } from "../../lib/services/backup/unpack_backup.ts";
import { callService, serviceWorld } from "../testing/service_world.ts";
import { startPermissions } from "../testing/start_permissions.ts";

const LOAD = 6;

Deno.test("a backup that is taken under load is one moment: its money adds up, and what was answered before is in it", async () => {
  await using world = await serviceWorld();
  const { service, operatorKey, folder } = world;
  const as = { authorization: `Bearer ${operatorKey}` };
  let over = false;
  let credits = 0;
  const answered: string[] = [];
  const write = async (writer: number) => {
    for (let at = 0; !over; at++) {
      const reference = `c-${writer}-${at}`;
      const response = await fetch(`${service.url}/api/namespaces/acme/credits`, {
        method: "POST",
        headers: { ...as, "content-type": "application/json" },
        body: JSON.stringify({ amountUsd: 1, reference }),
      });
      await response.body?.cancel();
      assertEquals(response.status, 201);
      answered.push(reference);
      credits++;
      await callService(world, "SELECT 1");
    }
  };
  const writers = Promise.all(Array.from({ length: LOAD }, (_, writer) => write(writer)));
  writers.catch(() => over = true);
  const seen = async (count: number) => {
    while (credits < count && !over) await pause(5);
  };
  try {
    for (let round = 1; round <= 3; round++) {
      await seen(round * 30);
      const before = [...answered];
      const path = `${folder}/taken-${round}.tar`;
      const response = await fetch(`${service.url}/api/backup`, { headers: as });
      assertEquals([response.status, response.headers.get("content-type")], [200, "application/x-tar"]);
      await Deno.writeFile(path, response.body ?? new Uint8Array());
      assertEquals(String((await Deno.stat(path)).size), response.headers.get("content-length"));
      const apart = await Deno.makeTempDir({ dir: folder });
      const kv = await Deno.openKv((await unpackBackup(path, apart)).kvPath);
      assertEquals(await checkMoney(kv), { looked: 1, wrong: [] });
      const kept = await Array.fromAsync(kv.list({ prefix: ["credit"] }), ({ key }) => key.at(-1));
      kv.close();
      assertEquals(before.filter((reference) => !kept.includes(reference)), []);
    }
  } finally {
    over = true;
    await writers;
  }
  // Nothing is left of them, and the log tells no key.
  assertEquals(await Array.fromAsync(Deno.readDir(`${folder}/backups`)), []);
  assert(!service.errors().includes(operatorKey));
  await commandsOf(folder, operatorKey, service.url);
});

/** The commands as people run them; `deno.json` has their permissions. */
async function commandsOf(folder: string, operatorKey: string, url: string): Promise<void> {
  const { tasks }: { tasks: Record<string, string> } = JSON.parse(
    await Deno.readTextFile(new URL("../../deno.json", import.meta.url)),
  );
  const run = async (task: string, ...args: string[]) => {
    const words = (tasks[task] ?? "").split(" ").slice(1);
    assertEquals(words.filter((word) => word.startsWith("--allow-")), startPermissions());
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [...words, ...args],
      cwd: new URL("../../", import.meta.url),
      env: { DATA_DIR: folder, OPERATOR_KEY: operatorKey, INIT_CWD: folder },
    }).output();
    return { code, text: new TextDecoder().decode(stdout), errors: new TextDecoder().decode(stderr) };
  };
  const taken = await run("backup", "by-service.tar", "--from", url);
  assertEquals([taken.code, taken.errors], [0, ""], taken.text);
  const verified = await run("backup:verify", "by-service.tar");
  assertEquals(verified.code, 0, verified.text);
  assertMatch(verified.text, /Files: compared with .*\nArchive: not compared.*\nAll is well\n$/);
  const refused = await run("backup:restore", "by-service.tar", "--replace");
  assertEquals(refused, {
    code: 1,
    text:
      "Not done: Stop the other service or set another DATA_DIR; this folder is in use by a running one\n",
    errors: "",
  });
}
