import { assertEquals, assertRejects } from "@std/assert";
import { ControlPlane } from "../../lib/control/control_plane.ts";
import { CACHE_AGE_MS } from "../../lib/core/limits.ts";
import { keys } from "../../lib/store/keys.ts";
import type { Key } from "../../lib/store/key.ts";
import type { MemberRecord } from "../../lib/store/people_records.ts";
import { MAX_LINEAGE, tokenLineage } from "../../lib/control/token_records.ts";
import { controlWorld } from "../testing/control_world.ts";

Deno.test("Tokens.byHash() finds a token and its namespace, the second time without waiting", async () => {
  using world = await controlWorld();
  const { id } = await world.namespace("acme");
  const { record } = await world.token(id);
  assertEquals(await world.control.tokens.byHash(record.hash), { token: record, namespaceSlug: "acme" });
  assertEquals(world.control.tokens.byHash(record.hash) instanceof Promise, false);
  assertEquals(await world.control.tokens.byHash("0".repeat(64)), null);
});

Deno.test("Tokens.remove() is seen at once in this process and within the cache's age in others", async () => {
  using world = await controlWorld();
  const other = world.other();
  const { id } = await world.namespace();
  const { record } = await world.token(id);
  for (const { tokens } of [world.control, other]) await tokens.byHash(record.hash);
  assertEquals(await world.control.tokens.remove(id, record.id), true);
  assertEquals(await world.control.tokens.byHash(record.hash), null);
  world.clock.turn(CACHE_AGE_MS);
  assertEquals(await other.tokens.byHash(record.hash), null);
});

Deno.test("the cache's age is within the five seconds that the contract gives a revocation", () => {
  assertEquals(CACHE_AGE_MS < 5000, true);
});

Deno.test("Tokens.remove() wins over a look-up that is under way", async () => {
  using world = await controlWorld();
  const { id } = await world.namespace();
  const { record } = await world.token(id);
  for (let round = 0; round < 20; round++) {
    const fresh = await world.token(id);
    const looking = world.control.tokens.byHash(fresh.record.hash);
    await Promise.all([looking, world.control.tokens.remove(id, fresh.record.id)]);
    assertEquals(await world.control.tokens.byHash(fresh.record.hash), null);
  }
  assertEquals((await world.control.tokens.byHash(record.hash))?.token.id, record.id);
});

Deno.test("Tokens.remove() does not reach into another namespace", async () => {
  using world = await controlWorld();
  const [a, b] = [await world.namespace("a"), await world.namespace("b")];
  const { record } = await world.token(b.id);
  assertEquals(await world.control.tokens.remove(a.id, record.id), false);
  assertEquals((await world.control.tokens.byHash(record.hash))?.token.id, record.id);
});

Deno.test("a token of a namespace that is gone is unknown, and none can be added", async () => {
  using world = await controlWorld();
  const namespace = await world.namespace();
  const { record } = await world.token(namespace.id);
  await world.control.namespaces.remove(namespace);
  world.control.tokens.forgetAll();
  assertEquals(await world.control.tokens.byHash(record.hash), null);
  assertEquals(await world.control.tokens.add({ ...record, id: "tok_other", hash: "1".repeat(64) }), false);
});

Deno.test("Tokens.removeAll() leaves no key of any token, however many there are", async () => {
  using world = await controlWorld();
  const { id } = await world.namespace("acme");
  const other = await world.namespace("other");
  const { record } = await world.token(other.id);
  for (let n = 0; n < 230; n++) await world.token(id);
  await world.control.tokens.removeAll(id);
  assertEquals((await world.control.tokens.list(id, { cursor: null, pageSize: 10 })).records, []);
  const pointers = await Array.fromAsync(world.kv.list({ prefix: keys.tokenByHash("").slice(0, 1) }));
  assertEquals(pointers.map(({ key }) => key), [[...keys.tokenByHash(record.hash)]]);
});

Deno.test("Tokens.list() gives pages in the order of creation, each token once", async () => {
  using world = await controlWorld();
  const { id } = await world.namespace();
  const made: string[] = [];
  for (let n = 0; n < 7; n++) made.push((await world.token(id)).record.id);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { records: readonly { id: string }[]; nextCursor: string | null } = await world.control.tokens
      .list(
        id,
        { cursor, pageSize: 3 },
      );
    seen.push(...page.records.map((record) => record.id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  assertEquals(seen, made);
});

Deno.test("tokens of a giver are refused with it, also where its removal stops half-way, behind 10,000 other givers", async () => {
  using world = await controlWorld();
  const { id } = await world.namespace();
  const { record: giver } = await world.token(id);
  const { record: child } = await world.token(id, { parentId: giver.id });
  let stops = false;
  const entry = (key: Deno.KvKey, value: unknown) => ({
    key,
    value,
    versionstamp: value === null ? null : "1",
  });
  // Tokens called "many…" have givers that nobody knows. They are many, so no KV is asked for them.
  const get = (key: Deno.KvKey) => {
    const name = String(key.at(-1));
    if (name.startsWith("many")) return entry(key, { namespaceId: id, tokenId: `tok_${name}` });
    if (name.startsWith("tok_many")) return entry(key, { ...child, parentId: `giver_${name}` });
    return name.startsWith("giver_") ? entry(key, null) : world.kv.get(key);
  };
  const kv = new Proxy(world.kv, {
    get: (target, name) => {
      if (name === "get") return get;
      if (name === "list" && stops) throw new TypeError("KV is gone");
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const { tokens } = new ControlPlane(kv, world.clock);
  for (const others of [0, 10_000]) {
    assertEquals((await tokens.byHash(child.hash))?.token.id, child.id);
    for (let n = 0; n < others; n++) assertEquals(await tokens.byHash(`many${n}`), null);
  }
  stops = true;
  await assertRejects(() => tokens.remove(id, giver.id));
  assertEquals(await tokens.byHash(child.hash), null);
});

Deno.test("a token is added to what is there at that moment: a namespace, whoever gives it, and the member behind that", async () => {
  using world = await controlWorld();
  const { kv, control: { tokens } } = world;
  const { id: namespaceId } = await world.namespace();
  const { record: parent } = await world.token(namespaceId, { expiresAt: world.clock.now() + 60_000 });
  const memberId = "mem_a";
  const member: MemberRecord = {
    ...{ id: memberId, namespaceId, email: "a@a.example", name: null, role: "admin", passwordHash: null },
    ...{ epoch: 2, createdAt: 0, joinedAt: 1, vouched: true },
  };
  await kv.set(keys.member(namespaceId, memberId), member);
  const { record: allowed } = await world.token(namespaceId, { member: { id: memberId, epoch: 2 } });
  const changes: [key: Key<unknown>, giver: string | undefined, put: unknown][] = [
    [keys.namespace(namespaceId), undefined, null],
    [keys.namespace(namespaceId), parent.id, null],
    [keys.token(namespaceId, parent.id), parent.id, null],
    [keys.member(namespaceId, memberId), allowed.id, { ...member, epoch: 3 }],
    [keys.member(namespaceId, memberId), allowed.id, null],
  ];
  for (const [key, parentId, put] of changes) {
    const given = parentId === undefined ? {} : { parentId };
    const record = { ...parent, ...given, id: "tok_new", hash: "new" };
    const { value } = await kv.get(key);
    const commit = kv.atomic();
    assertEquals((await tokens.addTo(commit, record)).ok, true);
    await (put === null ? kv.delete(key) : kv.set(key, put));
    assertEquals((await commit.commit()).ok, false);
    assertEquals((await tokens.addTo(kv.atomic(), record)).ok, false);
    await kv.set(key, value);
  }
  const going = world.meanwhile(() => kv.delete(keys.namespace(namespaceId)));
  assertEquals(await going.tokens.add({ ...parent, id: "tok_new", hash: "new" }), false);
});

Deno.test("a token that another one gives ends no later, counts where that one does, and with the millisecond of its end", async () => {
  using world = await controlWorld();
  const { kv, control: { tokens } } = world;
  const { id: namespaceId } = await world.namespace();
  const expiresAt = world.clock.now() + 60_000;
  const { record: parent } = await world.token(namespaceId, { expiresAt, audience: "mcp" });
  for (const wanted of [null, expiresAt + 1, expiresAt - 1]) {
    const record = { ...parent, id: "tok_new", hash: "new", parentId: parent.id, expiresAt: wanted };
    const { audience: _, ...plain } = record;
    const commit = kv.atomic();
    const least = Math.min(wanted ?? Infinity, expiresAt);
    assertEquals(await tokens.addTo(commit, plain), { ok: true, expiresAt: least });
    await commit.commit();
    const added = await tokens.byId(namespaceId, "tok_new");
    assertEquals([added?.expiresAt, added?.audience], [least, "mcp"]);
  }
  const line = (nowMs: number) => tokenLineage(kv, { namespaceId, tokenId: parent.id, nowMs });
  assertEquals([(await line(expiresAt - 1))?.tokens.length, await line(expiresAt)], [1, null]);
  // However it came to be: no look-up goes further.
  const { record: eldest } = await world.token(namespaceId);
  let parentId = eldest.id;
  for (let age = 1; age < MAX_LINEAGE; age++) {
    parentId = (await world.token(namespaceId, { parentId })).record.id;
  }
  const { record: last } = await world.token(namespaceId, { parentId });
  assertEquals((await tokens.byHash(last.hash))?.token.id, last.id);
  const { record: beyond } = await world.token(namespaceId, { parentId: last.id });
  assertEquals(await tokens.byHash(beyond.hash), null);
});

Deno.test("a change of a member ends what it gave out before, and no token where its epoch stays", async () => {
  using world = await controlWorld();
  const { control: { members, tokens } } = world;
  const { id: namespaceId } = await world.namespace();
  const memberId = "mem_a";
  const member: MemberRecord = {
    ...{ id: memberId, namespaceId, email: "a@a.example", name: null, role: "admin", passwordHash: null },
    ...{ epoch: 2, createdAt: 0, joinedAt: 1, vouched: true },
  };
  assertEquals((await members.add(member)).ok, true);
  const { record: given } = await world.token(namespaceId, { member: { id: memberId, epoch: 2 } });
  const change = async (more: Partial<MemberRecord>) => {
    const changed = (current: MemberRecord) => ({ ...current, ...more });
    assertEquals(
      (await members.change({ namespaceId, memberId, keepAdmin: false, change: changed })).ok,
      true,
    );
    return await tokens.byId(namespaceId, given.id);
  };
  assertEquals(await change({ name: "Ann" }), given);
  assertEquals(await change({ epoch: 3 }), null);
});
