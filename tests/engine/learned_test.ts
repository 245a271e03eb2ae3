// What a process keeps of statements: bounded for all schemas together, whatever their texts are.
import { assert, assertEquals } from "@std/assert";
import { Learned } from "../../lib/engine/rows_read/learned.ts";
import { SchemaFacts } from "../../lib/engine/schema_facts.ts";

/** Texts of one length, all of them different. */
function texts(count: number, length: number): string[] {
  return Array.from({ length: count }, (_, at) => `SELECT ${at}`.padEnd(length));
}

Deno.test("the long texts of many schemas are not all kept, and what is learned last is", () => {
  const schemas = Array.from({ length: 100 }, () => new SchemaFacts(""));
  const read = {
    columns: [],
    columnsJson: "[]",
    forms: { rowCount: 1, texts: { counted: "", limited: "", compound: false } },
  };
  const long = texts(256, 4000);
  for (const { reads } of schemas) for (const sql of long) reads.set(sql, read);
  const kept = schemas.flatMap(({ reads }) => long.filter((sql) => reads.get(sql) !== undefined));
  assert(kept.length * 4000 <= 1_000_000, `${kept.length} texts`);
  assertEquals(schemas.at(-1)?.reads.get(long.at(-1) ?? ""), read);
});

Deno.test("a schema forgets its oldest statement first, and takes no other one's place with the same texts", () => {
  const [one, other] = [new Learned<number>(), new Learned<number>()];
  const [first = "", ...more] = texts(257, 20);
  other.set(first, 1);
  for (let round = 0; round < 100; round++) {
    for (const [at, sql] of [first, ...more].entries()) one.set(sql, at);
  }
  assertEquals([one.get(first), one.get(more[0] ?? ""), one.get(more.at(-1) ?? "")], [undefined, 1, 256]);
  assertEquals(other.get(first), 1);
  one.set("x".repeat(4001), 1);
  assertEquals(one.get("x".repeat(4001)), undefined);
});
