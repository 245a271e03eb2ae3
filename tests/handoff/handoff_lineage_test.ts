// A handed-off token lives as long as the token that handed it off, through however many hands it went.
import { assertEquals } from "@std/assert";
import { MAX_LINEAGE } from "../../lib/control/token_records.ts";
import { CACHE_AGE_MS } from "../../lib/core/limits.ts";
import { keys } from "../../lib/store/keys.ts";
import { secondApp } from "../replay/second_app.ts";
import { startApp } from "../testing/start_app.ts";
import { member } from "../testing/test_namespace.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { type Asking, handedOff, MAIN, mint, minted, outcome, redeem } from "./handoffs.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("a handed-off token lives as long as the token that handed it off", run);

const TOKENS = "/api/namespaces/acme/tokens";

async function works({ request }: Asking, token: string): Promise<boolean> {
  return (await request("GET", "/v1/me", { token })).status === 200;
}

test("revoking a token refuses all that descend from it: here at once, elsewhere within the cache's age", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  await using other = secondApp(app);
  const tenant = await app.namespace();
  const first = await tenant.mint("write");
  const second = await handedOff(app, first.token, "write");
  const third = await handedOff(app, second.token, "read");
  const sibling = await handedOff(app, tenant.token, "read");
  for (const { token } of [first, second, third, sibling]) {
    assertEquals([await works(app, token), await works(other, token)], [true, true]);
  }
  await app.request("DELETE", `${TOKENS}/${first.id}`, { token: tenant.token });
  for (const { token } of [first, second, third]) assertEquals(await works(app, token), false);
  clock.turn(CACHE_AGE_MS);
  for (const { token } of [first, second, third]) assertEquals(await works(other, token), false);
  assertEquals([await works(app, sibling.token), await works(other, sibling.token)], [true, true]);
});

test("a revoked family leaves neither tokens in the list nor keys in KV", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const first = await tenant.mint("read");
  const second = await handedOff(app, first.token);
  await handedOff(app, second.token);
  await handedOff(app, first.token);
  await app.request("DELETE", `${TOKENS}/${first.id}`, { token: tenant.token });
  const list = await app.request("GET", TOKENS, { token: tenant.token });
  assertEquals((list.body.data as { id: string }[]).map(({ id }) => id), [tenant.id]);
  const prefixes = [keys.tokenByHash(""), keys.childToken("", "", "")].map(([prefix]) => String(prefix));
  const left = await Array.fromAsync(app.deps.kv.list({ prefix: [] }));
  assertEquals(left.filter(({ key }) => prefixes.includes(String(key[0]))).length, 1);
});

test("revoking a child leaves its parent and the parent's other children alone", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const parent = await handedOff(app, tenant.token);
  const [a, b] = [await handedOff(app, parent.token), await handedOff(app, parent.token)];
  await app.request("DELETE", `${TOKENS}/${a.id}`, { token: tenant.token });
  assertEquals(await Promise.all([a, parent, b].map(({ token }) => works(app, token))), [false, true, true]);
});

test("repeating a revocation finishes what a crash left of the family", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const first = await tenant.mint("read");
  const second = await handedOff(app, first.token);
  const third = await handedOff(app, second.token);
  const { id: namespaceId } = (await app.deps.control.namespaces.bySlug("acme")) ?? { id: "" };
  // As after a crash behind the second token's removal, before the third's.
  for (const { id } of [first, second]) await app.deps.kv.delete(keys.token(namespaceId, id));
  assertEquals(await works(app, third.token), false);
  assertEquals(await app.deps.control.tokens.remove(namespaceId, first.id), false);
  const { records } = await app.deps.control.tokens.list(namespaceId, { cursor: null, pageSize: 10 });
  assertEquals(records.map(({ id }) => id), [tenant.id]);
});

test("a handoff minted by a token that was revoked before the redeem is not found", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  const { id, token } = await tenant.mint("read");
  const child = await handedOff(app, token);
  const handoffs = [await minted(app, token), await minted(app, child.token)];
  await app.request("DELETE", `${TOKENS}/${id}`, { token: tenant.token });
  for (const handoff of handoffs) {
    assertEquals(outcome(await redeem(app, handoff)), "404 handoff_not_found");
  }
});

test("a handed-off token expires with the minting one, and a handoff no later than that", async () => {
  const clock = new TurnableClock();
  await using app = await startApp({ clock });
  const tenant = await app.namespace();
  const { token } = await tenant.mint("read", { expiresInSec: 300 });
  const me = await app.request("GET", "/v1/me", { token });
  const handoff = await mint(app, token);
  assertEquals(member(handoff, "expiresAt"), member(me, "expiresAt"));
  const answer = await redeem(app, member(handoff, "token"));
  assertEquals(member(answer, "expiresAt"), member(me, "expiresAt"));
  const grandchild = await handedOff(app, member(answer, "token"));
  const late = await minted(app, token);
  assertEquals(await works(app, grandchild.token), true);
  clock.turn(300_000);
  assertEquals(await works(app, member(answer, "token")), false);
  assertEquals(await works(app, grandchild.token), false);
  assertEquals(outcome(await redeem(app, late)), "404 handoff_not_found");
});

test("a token is handed on so many times and then refused when it is minted, not when it is redeemed, and claims no branch", async () => {
  await using app = await startApp();
  const { token } = await app.namespace();
  let last = token;
  for (let n = 1; n < MAX_LINEAGE; n++) last = (await handedOff(app, last, "admin")).token;
  assertEquals(await works(app, last), true);
  assertEquals(outcome(await mint(app, last)), "403 handoff_too_deep");
  const claim = await app.request("POST", `${MAIN}/claim_branch`, { token: last, body: { purpose: "deep" } });
  assertEquals(outcome(claim), "403 handoff_too_deep");
});

test("revoking and redeeming at the same moment leaves no child that works", async () => {
  await using app = await startApp();
  const tenant = await app.namespace();
  for (let round = 0; round < 20; round++) {
    const parent = await tenant.mint("read");
    const handoff = await minted(app, parent.token);
    const [answer] = await Promise.all([
      redeem(app, handoff),
      app.request("DELETE", `${TOKENS}/${parent.id}`, { token: tenant.token }),
    ]);
    if (answer.status === 201) assertEquals(await works(app, member(answer, "token")), false);
    else assertEquals(outcome(answer), "404 handoff_not_found");
  }
});
