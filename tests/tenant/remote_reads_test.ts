// Which reads of a remote database start while the server has as many as it is given at a time.
import { assertEquals } from "@std/assert";
import { systemClock } from "../../lib/core/clock.ts";
import { AppError } from "../../lib/core/errors.ts";
import { silentLog } from "../../lib/core/log.ts";
import { Catalog } from "../../lib/tenant/remote/locations/catalog.ts";
import { RemoteConnection } from "../../lib/tenant/remote/connection/remote_connection.ts";
import { type RemoteContext, withDefaults } from "../../lib/tenant/remote/server/remote_context.ts";
import { RequestsUnderWay } from "../../lib/tenant/remote/server/requests_under_way.ts";
import { SlowReads } from "../../lib/tenant/remote/calls/slow_reads.ts";
import { SlowSlots } from "../../lib/tenant/remote/calls/slow_slots.ts";
import { CommitNotices } from "../../lib/tenant/commit_notices.ts";
import { tenantCall } from "../contracts/tenant_store.ts";

/** Reads at a time of all callers. */
const AT_ONCE = 16;

/** Nothing here gets as far as a server. */
const unasked = () => Promise.reject(new TypeError("a server was asked"));
const context: RemoteContext = {
  underWay: new RequestsUnderWay(),
  commits: new CommitNotices({ others: true }),
  platform: {
    dataSecret: "TENANTS_TOKEN",
    endpoint: unasked,
    refused: () => false,
    create: unasked,
    fork: unasked,
    remove: unasked,
    block: unasked,
  },
  ...withDefaults({
    clock: systemClock,
    log: silentLog,
    fetch: unasked,
    queryTimeoutMs: 30_000,
    logDays: 30,
    snapshotDays: 7,
  }),
};

/** Reads of one database, each of which runs until `release`. */
function heldReads(maxWaiting?: number) {
  const connection = new RemoteConnection(context, new Catalog(context), "db");
  const reads = new SlowReads(connection, new SlowSlots(AT_ONCE), maxWaiting);
  const held = Promise.withResolvers<void>();
  const started: string[] = [];
  return {
    started,
    release: held.resolve,
    start: (tokenId: string) => {
      const made = tenantCall(1, "read", [["SELECT 1"]]);
      const call = { ...made, log: made.log && { ...made.log, tokenId } };
      return reads.run({ call, signal: null, namespaceId: "ns_1" }, async () => {
        started.push(tokenId);
        await held.promise;
        return { ok: "stale", schemaVersion: 1 };
      });
    },
  };
}

Deno.test("however many reads of one caller wait, another caller's starts at once, and all run in the end", async () => {
  const { start, started, release } = heldReads();
  const many = Array.from({ length: 1000 }, () => start("a"));
  const other = start("b");
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  assertEquals([started.filter((one) => one === "a").length, started.includes("b")], [AT_ONCE / 2, true]);
  release();
  await Promise.all([...many, other]);
  assertEquals(started.length, 1001);
});

Deno.test("of the reads of a database only so many wait, and further ones are busy", async () => {
  const { start, started, release } = heldReads(100);
  const many = Array.from({ length: 100 + AT_ONCE / 2 }, () => start("a"));
  const code = await start("a").then(() => null, (error) => error instanceof AppError ? error.code : error);
  assertEquals(code, "database_busy");
  release();
  await Promise.all(many);
  assertEquals(started.length, many.length);
});

Deno.test("slow reads have two slots of one token, three of one database and six together; strangers count for the database", () => {
  const slots = new SlowSlots(AT_ONCE);
  const database = () => new SlowReads(new RemoteConnection(context, new Catalog(context), "db"), slots);
  const [one, two, three] = [database(), database(), database()];
  const take = (reads: SlowReads, tokenId: string | null) => {
    const may = slots.mayTakeSlot(reads, tokenId);
    if (may) slots.running.add({ reads, tokenId, slow: { tokenId, hasSlot: true, seen: true } });
    return may;
  };
  assertEquals([take(one, "a"), take(two, "a"), take(three, "a")], [true, true, false]);
  assertEquals([take(one, null), take(one, null), take(one, "b")], [true, true, false]);
  assertEquals([take(two, "b"), take(three, "b"), take(three, "c")], [true, true, false]);
});
