// What a stranger is told where a question is refused: words of the question, never the name of a table or column.
import { assert, assertEquals } from "@std/assert";
import { specOf } from "../ask/ask_world.ts";
import { oneStore } from "../testing/cases.ts";
import { publishedApp } from "./publish.ts";

const { run, test } = oneStore();
Deno.test("what a stranger is told of a question that is refused", run);

const SETUP = [
  "CREATE TABLE depot_site (id INTEGER PRIMARY KEY, site_name TEXT)",
  "CREATE TABLE road_trip (id INTEGER PRIMARY KEY, weight_grams INTEGER, goods_kind TEXT, driver_code TEXT NOT NULL, " +
  "from_site_id INTEGER REFERENCES depot_site, to_site_id INTEGER REFERENCES depot_site)",
  "CREATE TABLE trip_driver (id INTEGER PRIMARY KEY, driver_name TEXT, boss_id INTEGER REFERENCES trip_driver)",
  "INSERT INTO depot_site VALUES (1, 'North Hub'), (2, 'South Hub')",
  "INSERT INTO road_trip VALUES (1, 900, 'Coal', 'D7', 1, 2), (2, 90, 'Milk', 'D8', 2, 1)",
  "INSERT INTO trip_driver VALUES (1, 'Ada', NULL), (2, 'Bert', 1)",
];

/** What has to be in the message. */
const refused: Readonly<Record<string, string>> = {
  "road trips heavier than 500":
    'the unit of "heavier than 500" does not fit; say the number with a unit such as "gram"',
  "road trips of North Hub": 'in several ways; say which one: "from" or "to"',
  "road trips without a driver code": '"driver code" is never empty; say what its value is',
  "road trips with both Coal and Milk": `nothing has both "Coal" and "Milk"; ask for either`,
  "Coal road trips of Milk": `"Coal" and "Milk" are asked for, and nothing has more than one of them`,
  "trip drivers boss Ada": 'say "boss is …"',
};

test("a question that is refused names words of its own, never a table or a column", async () => {
  await using world = await publishedApp({ setup: SETUP });
  await world.put(specOf(["depot_site", "road_trip", "trip_driver"]));
  for (const [question, said] of Object.entries(refused)) {
    const answer = await world.call("ask", { body: { question } });
    assertEquals([answer.status, answer.body.code], [422, "ask_refused"], `${question}: ${answer.text}`);
    const error = answer.body.error ?? "";
    assert(error.includes(said), `${question}: ${error}`);
    assert(!/\w_\w|\w\.\w/.test(error), `${question}: ${error}`);
  }
});
