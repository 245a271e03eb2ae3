// What a restored control plane must not bring back: each kind of record that counts once, or that has ended since.
import { assertEquals, assertNotEquals } from "@std/assert";
import { DAY_MS } from "../../lib/core/clock.ts";
import { voidRevived } from "../../lib/services/backup/void_revived.ts";
import type { Key } from "../../lib/store/key.ts";
import { keys } from "../../lib/store/keys.ts";
import type { DeletedDatabaseRecord } from "../../lib/store/records.ts";
import { type ControlWorld, controlWorld } from "../testing/control_world.ts";

/** Whoever has one of these could use it a second time, or go on with what has ended. */
const ONCE: readonly Key<unknown>[] = [
  keys.execution("hash"),
  keys.handoff("hash"),
  keys.link("hash"),
  keys.invitationOf("mem_1"),
  keys.accountToken("hash"),
  keys.mailJob("mail_1"),
  keys.consoleSession("hash"),
  keys.sessionOf("mem_1", "ses_1"),
  keys.oauthCode("hash"),
  keys.oauthRefresh("hash"),
  keys.changeTicket("hash"),
  keys.webhookLease("whk_1"),
];

async function left({ kv }: ControlWorld, all: readonly Key<unknown>[]): Promise<Key<unknown>[]> {
  const found = await Promise.all(all.map((key) => kv.get(key)));
  return all.filter((_, at) => found[at]?.versionstamp !== null);
}

for (const revokeTokens of [false, true]) {
  Deno.test(`what counts once is gone after a restore, and tokens ${revokeTokens ? "too where that is asked for" : "stay"}`, async () => {
    using world = await controlWorld();
    const { kv, clock } = world;
    const { id: namespaceId } = await world.namespace();
    const { record: { id: giver } } = await world.token(namespaceId);
    const { record: { id, hash } } = await world.token(namespaceId, { parentId: giver });
    await kv.set(keys.tokenUse(namespaceId, id), clock.now());
    const tokens = [
      keys.token(namespaceId, giver),
      keys.token(namespaceId, id),
      keys.tokenByHash(hash),
      keys.childToken(namespaceId, giver, id),
      keys.tokenUse(namespaceId, id),
    ];
    for (const key of ONCE) await kv.set(key, "once");
    await kv.set(keys.hashSecret(), new Uint8Array(32));
    await voidRevived(kv, { clock, revokeTokens, rehearsal: false });
    assertEquals(await left(world, ONCE), []);
    assertEquals(await left(world, tokens), revokeTokens ? [] : tokens);
    // Whatever was signed by it, as answered challenges, counts no more.
    assertNotEquals((await kv.get(keys.hashSecret())).value, new Uint8Array(32));
  });
}

Deno.test("no storage is dropped for what the backup says of it: it may have been kept since", async () => {
  using world = await controlWorld();
  const { kv, clock } = world;
  const nowMs = clock.now();
  const { id: namespaceId } = await world.namespace();
  const database = { ...await world.database(namespaceId), sessionSigningKeyB64: "a key" };
  const deleted = keys.deletedDatabase(namespaceId, "db_deleted");
  const branch = keys.branch(namespaceId, database.id, "pr-1");
  await kv.set(keys.leftover("db_left"), { kind: "database", sinceMs: 0 });
  await kv.set(keys.leftover("ns_left"), { kind: "namespace", sinceMs: 0 });
  const [late, soon] = [nowMs + 30 * DAY_MS, nowMs - DAY_MS];
  await kv.set(deleted, { database, deletedAt: 0, untilMs: soon });
  for (const [expiresAt, least, most] of [[soon, 7, 8], [late, 30, 30]] as const) {
    await kv.set(branch, { ref: "pr-1", expiresAt });
    await voidRevived(kv, { clock, revokeTokens: false, rehearsal: false });
    const kept = (await kv.get<{ expiresAt: number }>(branch)).value?.expiresAt ?? 0;
    assertEquals([kept >= nowMs + least * DAY_MS, kept <= nowMs + most * DAY_MS], [true, true]);
  }
  assertEquals(await left(world, [keys.leftover("db_left"), keys.leftover("ns_left")]), [
    keys.leftover("ns_left"),
  ]);
  const { value } = await kv.get<DeletedDatabaseRecord>(deleted);
  assertEquals(value && value.untilMs >= nowMs + 7 * DAY_MS, true);
  // Without its key no session of its users is one.
  assertEquals(value?.database.sessionSigningKeyB64, undefined);
});
