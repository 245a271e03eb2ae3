// What a stranger is told where a question is refused: words of the question, never the name of a table or column.
import { assert, assertEquals } from "@std/assert";
import { specOf } from "../ask/ask_world.ts";
import { oneStore } from "../testing/cases.ts";
import { type PublishedApp, publishedApp } from "./publish.ts";

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
    'the unit of "heavier than 500" does not fit; say the number with the right unit',
  "road trips of North Hub": "in several ways; say which one",
  "road trips without a driver code": '"driver code" is never empty; say what its value is',
  "road trips with both Coal and Milk": `nothing has both "Coal" and "Milk"; ask for either`,
  "Coal road trips of Milk": `"Coal" and "Milk" are asked for, and nothing has more than one of them`,
  "trip drivers boss Ada": 'say "boss is …"',
};

/** What only those are told who may read the schema: words of it that the question does not have. */
const ofSchema: Readonly<Record<string, string>> = {
  "road trips heavier than 500": 'such as "gram"',
  "road trips of North Hub": 'say which one: "from" or "to"',
  "which drievrs are there": '"drievrs" may be "driver"',
  "what is in it": 'These would work: "',
};

async function refusedWorld(): Promise<PublishedApp> {
  const world = await publishedApp({ setup: SETUP });
  await world.put(specOf(["depot_site", "road_trip", "trip_driver"]));
  return world;
}

test("a question that is refused names words of its own, never a table or a column", async () => {
  await using world = await refusedWorld();
  for (const [question, said] of Object.entries(refused)) {
    const answer = await world.call("ask", { body: { question } });
    assertEquals([answer.status, answer.body.code], [422, "ask_refused"], `${question}: ${answer.text}`);
    const error = answer.body.error ?? "";
    assert(error.includes(said), `${question}: ${error}`);
    assert(!/\w_\w|\w\.\w/.test(error), `${question}: ${error}`);
  }
});

test("a number that cannot be told from its neighbours finds no other row", async () => {
  await using world = await publishedApp({
    setup: [
      "CREATE TABLE letter (id INTEGER PRIMARY KEY, pages INTEGER)",
      "INSERT INTO letter VALUES (9007199254740992, 1), (9007199254740991, 2)",
    ],
  });
  await world.put(specOf(["letter"]));
  const asked = async (question: string) => (await world.call("ask", { body: { question } })).text;
  assert((await asked("letter 9007199254740993")).includes('\\"9007199254740993\\" was not understood'));
  assertEquals(JSON.parse(await asked("letter 9007199254740991")).rows, [[9007199254740991, 2]]);
});

test("words of the schema that a question comes near to are for its owner, not for strangers or users", async () => {
  await using world = await refusedWorld();
  await world.put({ ...specOf(["depot_site", "road_trip", "trip_driver"]), slug: "mine", auth: "session" });
  const { acme, app } = world;
  const minted = await app.request("POST", "/v1/sessions", {
    token: acme.token,
    body: { namespaceSlug: acme.slug, databaseSlug: "main", userId: "7" },
  });
  assertEquals(minted.status, 201, minted.text);
  const { token } = JSON.parse(minted.text).data;
  for (const [question, said] of Object.entries(ofSchema)) {
    const open = await world.call("ask", { body: { question } });
    const own = await world.call("mine", { body: { question }, token });
    for (const { status, text, body } of [open, own]) {
      assertEquals([status, body.code], [422, "ask_refused"], `${question}: ${text}`);
      const words = (body.error ?? "").replace(/^Ask another way; /, "").toLowerCase().match(/[a-z]+/g) ?? [];
      const given = words.filter((word) => SCHEMA_WORDS.has(word) && !question.toLowerCase().includes(word));
      assertEquals(given, [], `${question}: ${text}`);
    }
    const path = `/api/namespaces/${acme.slug}/databases/main/endpoints/ask/test`;
    const tested = await app.request("POST", path, { token: acme.token, body: { input: { question } } });
    const { data } = JSON.parse(tested.text);
    assertEquals(data.body, open.body, question);
    assert(data.cause.error.includes(said), `${question}: ${tested.text}`);
  }
});

/** Every word of a name in `SETUP` that no message has for a reason of its own. */
const SCHEMA_WORDS = new Set(
  "depot site road trip trips weight gram grams goods kind driver code boss from to".split(" "),
);
