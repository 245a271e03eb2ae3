// How many databases and tokens a namespace makes in a day.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { madeLimits } from "../../lib/core/limits.ts";
import { startApp } from "../testing/start_app.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";

Deno.test("a namespace makes so many databases and tokens in a UTC day, each kind and each namespace by itself", async () => {
  const { inDay } = madeLimits;
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const [acme, other] = [await app.namespace("acme"), await app.namespace("other")];
  const make = (namespace: string, token: string, kind: string, body: object) =>
    app.request("POST", `/api/namespaces/${namespace}/${kind}`, { token, body });
  const database = (slug: string) => make("acme", acme.token, "databases", { slug });
  const token = () => make("acme", acme.token, "tokens", { name: "one of many", role: "read" });
  madeLimits.inDay = 3;
  try {
    // Each namespace has a database and a token from its start.
    assertEquals([(await database("a")).status, (await database("b")).status], [201, 201]);
    assertEquals([(await token()).status, (await token()).status], [201, 201]);
    for (const refused of [await database("c"), await token()]) {
      assertEquals([refused.status, refused.body.code], [429, "too_many_requests"], refused.text);
      assertMatch(refused.body.error ?? "", /Wait until tomorrow/);
      const waitSec = Number(refused.headers.get("retry-after"));
      assert(waitSec > 0 && waitSec <= 86_400, `${waitSec}`);
    }
    const elsewhere = await make("other", other.token, "databases", { slug: "a" });
    assertEquals(elsewhere.status, 201, elsewhere.text);
    clock.turn(86_400_000);
    assertEquals([(await database("c")).status, (await token()).status], [201, 201]);
  } finally {
    madeLimits.inDay = inDay;
  }
});
