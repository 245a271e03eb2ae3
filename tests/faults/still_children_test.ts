// Engine children that stand still and do not end, as where the system keeps them waiting or somebody has stopped them: what
// does not wait for a statement of theirs comes to its end too.
import { assert, assertEquals } from "@std/assert";
import { engineChildren } from "../testing/engine_children.ts";
import { callService, serviceWorld } from "../testing/service_world.ts";
import { suspend } from "../testing/suspend.ts";

const DATABASE = "/v1/db/acme/main";

Deno.test({
  name: "children that stand still keep no restore and no stop waiting for ever",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using world = await serviceWorld();
    const { service, token, folder } = world;
    const send = async (path: string, body: unknown) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const signal = AbortSignal.timeout(60_000);
      const answer = await fetch(service.url + path, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
        signal,
      });
      return { status: answer.status, text: await answer.text() };
    };
    const standStill = async () => {
      const children = await engineChildren(folder);
      assert(children.length > 0);
      await Promise.all(children.map(suspend));
    };
    const requests = ["BEGIN IMMEDIATE", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)", "COMMIT"].map((
      sql,
    ) => ({
      type: "execute",
      stmt: { sql },
    }));
    // A child of transactions has the file open from then on, beside the one of calls.
    const wrote = await send("/hrana/acme/main/v2/pipeline", { requests });
    assertEquals([wrote.status, wrote.text.includes('"error"')], [200, false], wrote.text);
    assertEquals((await send(`${DATABASE}/snapshots`, { label: "one" })).status, 201);
    assertEquals((await callService(world, "INSERT INTO t VALUES (2)")).status, 200);
    assert((await engineChildren(folder)).length > 1);
    await standStill();
    const restored = await send(`${DATABASE}/restore`, { snapshot: "one" });
    assertEquals(restored.status, 200, restored.text);
    assertEquals((await callService(world, "SELECT a FROM t")).body.data?.rows, [[1]]);
    assert(service.errors().includes('"event":"engine_child_ended","reason":"unexpected","op":"close"'));
    await standStill();
    assertEquals((await service.stop()).code, 0);
  },
});
