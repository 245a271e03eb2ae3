// Schemas of very many columns: what is made of them holds up nobody else.
import { assert, assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { toSchema } from "../../lib/services/schema/read_schema.ts";

const result = (rows: readonly unknown[]) => `{"columns":[],"rows":${JSON.stringify(rows)}`;

Deno.test("a schema of forty thousand columns is made in turns, each column with its own description", async () => {
  const names = Array.from({ length: 200 }, (_, at) => `t${at}`);
  const columns = names.flatMap((table) =>
    Array.from({ length: 200 }, (_, at) => [table, `C${at}`, "TEXT", 0, 0, null, 0])
  );
  const described = [["", "", "all"], ["T7", "", "seven"], ["t7", "c3", "three"], ["t8", "c0", "nought"]];
  const making = toSchema({
    results: [
      result(names.map((name) => [name, "table", 0, 0])),
      result(columns),
      result([]),
      result(described),
    ],
    errors: new Map(),
  });
  let [turns, isMade] = [0, false];
  void making.then(() => isMade = true);
  for (; !isMade; turns++) await setImmediate();
  assert(turns >= 4, `${turns} turns`);

  const { databaseDescription, tables } = await making;
  assertEquals([databaseDescription, tables.length, tables[7]?.description], ["all", 200, "seven"]);
  const said = tables.flatMap((table) =>
    table.columns.flatMap(({ name, description }) => description ? [[table.name, name, description]] : [])
  );
  assertEquals(said, [["t7", "C3", "three"], ["t8", "C0", "nought"]]);
  assert(tables.every((table) => table.columns.length === 200));
});
