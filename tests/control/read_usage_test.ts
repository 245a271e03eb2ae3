// Usage in rows is bounded, and whoever asks for too much is told what to ask for instead.
import { assert, assertEquals } from "@std/assert";
import { DAY_MS } from "../../lib/core/clock.ts";
import { readUsage, type UsagePage } from "../../lib/control/balance/read_usage.ts";
import { AppError } from "../../lib/core/errors.ts";
import { keys } from "../../lib/store/keys.ts";

const NAMESPACE = "ns_1";
const AT_ONCE = 500;
const USED = { requests: 1, rowsRead: 2, rowsWritten: 3, costNanoUsd: 4 };

async function fill(kv: Deno.Kv, databases: number): Promise<void> {
  for (let at = 0; at < databases; at += AT_ONCE) {
    const some = kv.atomic();
    for (let one = at; one < Math.min(at + AT_ONCE, databases); one++) {
      some.set(keys.usage(NAMESPACE, 24, `db_${one}`), USED).set(
        keys.usage(NAMESPACE, 25, `db_${one}`),
        USED,
      );
    }
    await some.commit();
  }
}

Deno.test("usage of too many rows is refused with what helps: pages, fewer hours, days instead of hours, or fewer days", async () => {
  using kv = await Deno.openKv(":memory:");
  const read = async (by: "hour" | "day", toMs: number, page: Partial<UsagePage> = {}) =>
    (await readUsage(kv, NAMESPACE, { fromMs: DAY_MS, toMs, by }, { cursor: null, pageSize: null, ...page }))
      .rows;
  const refusal = async (by: "hour" | "day") => {
    const error = await read(by, 2 * DAY_MS).catch((error) => error);
    assert(error instanceof AppError);
    assertEquals(error.code, "validation_failed");
    return error.facts;
  };
  await fill(kv, 6_000);
  assertEquals((await read("hour", DAY_MS + 1)).length, 6_000);
  assertEquals((await read("day", 2 * DAY_MS)).length, 6_000);
  const tooMany = (way: string) => ({
    issues: [{
      path: "from",
      message: `Ask for pages with pageSize, or for a shorter time${way}; this has too many rows`,
    }],
  });
  assertEquals(await refusal("hour"), tooMany(" or by day"));
  await fill(kv, 10_001);
  assertEquals(await refusal("day"), tooMany(""));
  assertEquals((await read("day", 2 * DAY_MS, { pageSize: 10_000 })).length, 10_000);
  const behind = await read("day", 2 * DAY_MS, { cursor: `${DAY_MS}.db_9998` });
  assertEquals(behind.map(({ databaseId, requests }) => ({ databaseId, requests })), [
    { databaseId: "db_9999", requests: 2 },
  ]);
});

Deno.test("the last page says that it is, also where it is full, and a time that ends before it begins has nothing", async () => {
  using kv = await Deno.openKv(":memory:");
  await fill(kv, 2);
  const range = { fromMs: DAY_MS, toMs: 2 * DAY_MS, by: "hour" } as const;
  const pages: number[] = [];
  for (let cursor: string | null = null; pages.length === 0 || cursor !== null;) {
    const { rows, nextCursor } = await readUsage(kv, NAMESPACE, range, { cursor, pageSize: 2 });
    pages.push(rows.length);
    cursor = nextCursor;
  }
  assertEquals(pages, [2, 2]);
  const turned = { ...range, fromMs: 2 * DAY_MS, toMs: DAY_MS };
  assertEquals(await readUsage(kv, NAMESPACE, turned, { cursor: null, pageSize: 2 }), {
    rows: [],
    nextCursor: null,
  });
});
