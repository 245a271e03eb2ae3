// When tokens were last used, over the end of the real process: a stop writes what it knows, kill -9 loses no more than that.
import { assert, assertEquals } from "@std/assert";
import { type RunningService, startService } from "../testing/start_service.ts";

async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_uses_" });
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function get(service: RunningService, path: string, token: string): Promise<unknown> {
  const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });
  assertEquals(response.status, 200);
  return (await response.json()).data;
}

Deno.test("a stop keeps when a token was last used, and after kill -9 it is as it was written last", async () => {
  await withFolder(async (folder) => {
    const settings = { OPERATOR_KEY: "operator-key-of-this-test" };
    const used = async (service: RunningService) => {
      const path = "/api/namespaces/demo/tokens";
      const [token] = await get(service, path, settings.OPERATOR_KEY) as { lastUsedAt: string | null }[];
      return token?.lastUsedAt ?? null;
    };
    await using first = await startService({ folder, settings });
    const token = /cub_live_\w+/.exec(first.output())?.[0] ?? "";
    assertEquals(await used(first), null);
    await get(first, "/v1/me", token);
    const last = await used(first);
    assert(last !== null);
    assertEquals((await first.stop()).code, 0);
    await using second = await startService({ folder, settings });
    assertEquals(await used(second), last);
    await get(second, "/v1/me", token);
    assert(String(await used(second)) > last);
    await second.kill();
    await using third = await startService({ folder, settings });
    assertEquals(await used(third), last);
  });
});
