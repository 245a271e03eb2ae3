// A backup that is tried beside the service which goes on: nobody is called twice.
import { assertEquals, assertMatch } from "@std/assert";
import { backupWorld } from "./backup_world.ts";

Deno.test("a rehearsal has its webhooks switched off, and a restore has them as they were", async () => {
  await using world = await backupWorld();
  const hooks = "/api/namespaces/acme/databases/main/webhooks";
  let token: string;
  {
    await using app = await world.start();
    ({ token } = await app.namespace());
    const post = (url: string) => app.request("POST", hooks, { token, body: { url, events: ["change"] } });
    assertEquals((await post("https://one.example/")).status, 201);
    assertEquals((await post("https://two.example/")).status, 201);
    assertEquals((await world.command(["take", "b.tar"])).code, 0);
  }
  const restored = async (...more: string[]) => {
    const { code, text } = await world.command(["restore", "b.tar", "--replace", ...more]);
    assertEquals(code, 0, text);
    await using app = await world.start();
    const { data } = JSON.parse((await app.request("GET", hooks, { token })).text);
    return { text, enabled: data.map(({ enabled }: { enabled: boolean }) => enabled) };
  };
  const rehearsed = await restored("--rehearsal");
  assertEquals(rehearsed.enabled, [false, false]);
  assertMatch(rehearsed.text, /Ended: webhooks \(2\)/);
  assertEquals((await restored()).enabled, [true, true]);
});
