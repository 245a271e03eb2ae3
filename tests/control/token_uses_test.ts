// When tokens were last used: noted in memory, written in batches, gone with the token.
import { assertEquals, assertRejects } from "@std/assert";
import { TOKEN_USE_WRITE_MS, TokenUses } from "../../lib/control/token_uses.ts";
import { type Clock, systemClock } from "../../lib/core/clock.ts";
import { keys } from "../../lib/store/keys.ts";
import { failingKv } from "../replay/second_app.ts";
import { type ControlWorld, controlWorld } from "../testing/control_world.ts";

/** A clock that stands until it is turned. */
function standing(): { nowMs: number; clock: Clock } {
  const stand = { nowMs: systemClock.now(), clock: systemClock };
  stand.clock = { ...systemClock, now: () => stand.nowMs };
  return stand;
}

const written = async ({ kv }: ControlWorld) =>
  (await Array.fromAsync(kv.list<number>({ prefix: ["token_use"] }))).map(({ value }) => value);

Deno.test("a use is known here at once, and elsewhere once it is written", async () => {
  using world = await controlWorld();
  const stand = standing();
  const tokenUses = new TokenUses(world.kv, stand.clock);
  const { record } = await world.token((await world.namespace()).id);
  assertEquals(await tokenUses.lastOf(record), null);
  tokenUses.note(record);
  stand.nowMs += 1000;
  tokenUses.note(record);
  assertEquals(await tokenUses.lastOf(record), stand.nowMs);
  assertEquals(await written(world), []);
  await tokenUses.write();
  assertEquals(await world.control.tokenUses.lastOf(record), stand.nowMs);
  assertEquals(TOKEN_USE_WRITE_MS <= 5 * 60_000, true);
});

Deno.test("of two processes the later use stays, whoever writes last", async () => {
  using world = await controlWorld();
  const stand = standing();
  const [one, other] = [new TokenUses(world.kv, stand.clock), new TokenUses(world.kv, stand.clock)];
  const { record } = await world.token((await world.namespace()).id);
  one.note(record);
  stand.nowMs += 1000;
  other.note(record);
  await other.write();
  await one.write();
  assertEquals(await written(world), [stand.nowMs]);
});

Deno.test("a use by a clock that was months ahead does not hide those after it was put back", async () => {
  using world = await controlWorld();
  const stand = standing();
  const tokenUses = new TokenUses(world.kv, stand.clock);
  const { record } = await world.token((await world.namespace()).id);
  const trueMs = stand.nowMs;
  stand.nowMs += 90 * 86_400_000;
  tokenUses.note(record);
  await tokenUses.write();
  stand.nowMs = trueMs;
  tokenUses.note(record);
  assertEquals(await tokenUses.lastOf(record), trueMs);
  await tokenUses.write();
  assertEquals(await written(world), [trueMs]);
});

Deno.test("more tokens than one commit takes are written, and a token that is gone leaves nothing", async () => {
  using world = await controlWorld();
  const { tokenUses, tokens } = world.control;
  const { id } = await world.namespace();
  const made = [];
  for (let number = 0; number < 95; number++) made.push((await world.token(id)).record);
  for (const record of made) tokenUses.note(record);
  const [gone] = made;
  await tokens.remove(id, gone?.id ?? "");
  await tokenUses.write();
  assertEquals((await written(world)).length, 94);
  for (const record of made.slice(1, 3)) await tokens.remove(id, record.id);
  assertEquals((await written(world)).length, 92);
  await tokens.removeAll(id);
  assertEquals(await written(world), []);
});

Deno.test("a token that is revoked while its use is written has none, and the others get theirs later", async () => {
  using world = await controlWorld();
  const { id } = await world.namespace();
  const [{ record }, { record: other }] = [await world.token(id), await world.token(id)];
  // The revocation comes between what the write reads and its commit.
  const kv = new Proxy(world.kv, {
    get: (target, name) => {
      if (name !== "atomic") return Reflect.get(target, name).bind(target);
      return () => {
        const atomic = target.atomic();
        const commit = atomic.commit.bind(atomic);
        atomic.commit = async () => {
          await world.control.tokens.remove(id, record.id);
          return await commit();
        };
        return atomic;
      };
    },
  });
  const stand = standing();
  const uses = new TokenUses(kv, stand.clock);
  for (const token of [record, other]) uses.note(token);
  await uses.write();
  assertEquals(await written(world), []);
  await uses.write();
  assertEquals(await written(world), [stand.nowMs]);
});

Deno.test("what KV does not take is kept for the next write", async () => {
  using world = await controlWorld();
  const { record } = await world.token((await world.namespace()).id);
  let down = true;
  const stand = standing();
  const uses = new TokenUses(failingKv(world.kv, () => down), stand.clock);
  uses.note(record);
  await assertRejects(() => uses.write());
  down = false;
  await uses.write();
  assertEquals(await written(world), [stand.nowMs]);
});

Deno.test("the use of a token that expires is forgotten with the token", async () => {
  using world = await controlWorld();
  const { id } = await world.namespace();
  const lifetimes: unknown[] = [];
  const kv = new Proxy(world.kv, {
    get: (target, name) => {
      if (name !== "atomic") return Reflect.get(target, name).bind(target);
      return () => {
        const atomic = target.atomic();
        const set = atomic.set.bind(atomic);
        atomic.set = (key, value, options) => {
          if (key[0] === "token_use") lifetimes.push(options);
          return set(key, value, options);
        };
        return atomic;
      };
    },
  });
  const stand = standing();
  const uses = new TokenUses(kv, stand.clock);
  const { record } = await world.token(id, { expiresAt: stand.nowMs + 3_600_000 });
  uses.note(record);
  await uses.write();
  assertEquals(lifetimes, [{ expireIn: 3_600_000 + 86_400_000 }]);
  assertEquals((await world.kv.get(keys.tokenUse(id, record.id))).value, stand.nowMs);
});
