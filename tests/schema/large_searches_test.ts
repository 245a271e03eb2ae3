// Searches of large schemas, whose indexes are not kept: of many at once none makes what another is making already.
import { assert, assertEquals } from "@std/assert";
import { RankedSchema } from "../../lib/services/schema/ranked_schema.ts";
import type { SchemaParts } from "../../lib/services/schema/read_schema.ts";
import { RankingCache } from "../../lib/services/schema/search_schema.ts";

/** A schema of one table whose text is longer than any whose index is kept. */
function largeSchema(table: string): SchemaParts {
  const results = [[[table, "table", 0, 0]], [[table, "id", "INTEGER", 1, 0, null, 0]], [], []];
  return {
    // As engines write them, without the last bracket.
    results: results.map((rows) => JSON.stringify({ rows }).slice(0, -1) + " ".repeat(600_000)),
    more: [],
    errors: new Map(),
  };
}

Deno.test("indexes of large schemas are made one after the other, each once for all that wait for it", async () => {
  const make = RankedSchema.of;
  let [made, underWay, most] = [0, 0, 0];
  RankedSchema.of = async (schema) => {
    made++;
    most = Math.max(most, ++underWay);
    try {
      return await make(schema);
    } finally {
      underWay--;
    }
  };
  try {
    const cache = new RankingCache();
    const asked = ["orders", "visits"].flatMap((name) =>
      Array.from({ length: 5 }, () => cache.rankingOf(name, largeSchema(name)))
    );
    const hits = await Promise.all(
      asked.map(async (ranking) => (await (await ranking).search("orders visits", 1))[0]),
    );
    assertEquals(hits.map((hit) => hit?.table), [...Array(5).fill("orders"), ...Array(5).fill("visits")]);
    assertEquals([made, most], [2, 1]);
    // It is not kept, and of another schema there is another one.
    const [again, other] = [
      cache.rankingOf("orders", largeSchema("orders")),
      cache.rankingOf("orders", largeSchema("new")),
    ];
    assert(again !== other);
    assertEquals((await (await other).search("new", 1))[0]?.table, "new");
    await again;
    assertEquals([made, most], [4, 1]);
  } finally {
    RankedSchema.of = make;
  }
});
