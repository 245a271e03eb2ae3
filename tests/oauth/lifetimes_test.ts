// Whatever OAuth gives out ends in its time, by the record and not by KV's own expiry.
import { assertEquals } from "@std/assert";
import { MINUTE_MS } from "../../lib/core/clock.ts";
import { oauthLimits } from "../../lib/core/oauth_limits.ts";
import { openPage } from "../console/open_page.ts";
import { signIn } from "../testing/person.ts";
import { startApp } from "../testing/start_app.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import {
  allow,
  authorizationPath,
  connect,
  consentPath,
  errorOf,
  exchange,
  oauthWorld,
  refresh,
  refusalAtMcp,
  register,
  tokensOf,
} from "./oauth_world.ts";

Deno.test("codes, tokens, connections and registrations end in their time, and use makes some last", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const world = await oauthWorld(app, "acme");
  const { token } = await world.tenant.mint("write");
  const unused = await register(app, world.server);

  const late = await allow(world, { token });
  clock.turn(oauthLimits.codeMs);
  assertEquals(await errorOf(await exchange(world, late)), "400 invalid_grant");

  const short = await world.tenant.mint("write", { expiresInSec: 600 });
  const bounded = await connect(world, { token: short.token });
  assertEquals((bounded.expiresIn ?? 0) <= 600, true);
  clock.turn(10 * MINUTE_MS);
  assertEquals(await refusalAtMcp(world, bounded.access), "invalid_bearer");
  assertEquals(await errorOf(await refresh(world, bounded.refresh)), "400 invalid_grant");

  const twice = await connect(world, { token });
  const once = await tokensOf(world, await refresh(world, twice.refresh));
  clock.turn(oauthLimits.repeatMs / 2);
  assertEquals((await tokensOf(world, await refresh(world, twice.refresh))).refresh, once.refresh);
  clock.turn(oauthLimits.repeatMs / 2);
  assertEquals(await errorOf(await refresh(world, twice.refresh)), "400 invalid_grant");
  assertEquals(await refusalAtMcp(world, once.access), "invalid_bearer");

  const first = await connect(world, { token });
  clock.turn(oauthLimits.accessMs);
  assertEquals(await refusalAtMcp(world, first.access), "invalid_bearer");
  let { refresh: renewal } = await tokensOf(world, await refresh(world, first.refresh));
  // A client that comes back in time stays for as long as it likes, and so does its registration.
  for (let month = 0; month < 4; month++) {
    clock.turn(oauthLimits.refreshMs - MINUTE_MS);
    const next = await tokensOf(world, await refresh(world, renewal));
    assertEquals(await refusalAtMcp(world, next.access), "in");
    renewal = next.refresh;
  }
  const person = await signIn(app, { role: "viewer" });
  const pageOf = async (clientId: string) => {
    const path = await authorizationPath(world, {
      verifier: "v".repeat(43),
      changed: { client_id: clientId },
    });
    return (await openPage(app, await consentPath(world, path), person)).status;
  };
  assertEquals([await pageOf(world.client.client_id), await pageOf(unused.client_id)], [200, 401]);
  clock.turn(oauthLimits.refreshMs);
  assertEquals(await errorOf(await refresh(world, renewal)), "400 invalid_grant");
  clock.turn(oauthLimits.clientMs);
  assertEquals(await pageOf(world.client.client_id), 401);
  // A client that only learned that its token is over would go on asking people under an id that is over too.
  assertEquals(await errorOf(await refresh(world, renewal)), "401 invalid_client");
  assertEquals(await errorOf(await exchange(world, late)), "401 invalid_client");
});
