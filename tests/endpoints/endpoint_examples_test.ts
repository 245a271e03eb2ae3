// The examples of specifications in the API description: each can be saved as it stands, and together they show all of it.
import { assertEquals } from "@std/assert";
import { endpointExamples } from "../../lib/core/endpoint_examples.ts";
import { endpointSpec, fieldSpec } from "../../lib/core/endpoint_spec.ts";
import { endpointWorld } from "./endpoint_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("endpoint examples", run);

const TABLES = [
  "CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT, email TEXT NOT NULL UNIQUE, password_hash TEXT NOT NULL, verified_at TEXT)",
  "CREATE TABLE products (id INTEGER PRIMARY KEY, stock INTEGER NOT NULL, facts TEXT)",
  "CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER, product_id INTEGER, note TEXT, total REAL)",
  "CREATE TABLE pictures (id INTEGER PRIMARY KEY, bytes BLOB)",
];

test("every example of a specification can be saved as it stands", async () => {
  await using world = await endpointWorld(TABLES);
  for (const example of endpointExamples) {
    const { status, text } = await world.call("POST", "", example);
    assertEquals(status, 201, text);
  }
});

test("together the examples show every member of a specification and of an input, and every kind and output", () => {
  const parsed = endpointExamples.map((one) => endpointSpec.parse(one));
  const shown = (objects: readonly object[]) => new Set(objects.flatMap((one) => Object.keys(one)));
  const missing = (names: readonly string[], there: ReadonlySet<string>) =>
    names.filter((name) => !there.has(name));
  assertEquals(missing(Object.keys(endpointSpec.shape), shown(parsed)), []);
  assertEquals(missing(Object.keys(fieldSpec.shape), shown(parsed.flatMap(({ input }) => input))), []);
  assertEquals(missing(endpointSpec.shape.kind.options, new Set(parsed.map(({ kind }) => kind))), []);
  assertEquals(missing(endpointSpec.shape.output.options, new Set(parsed.map(({ output }) => output))), []);
  assertEquals(missing(endpointSpec.shape.kind.options, new Set(parsed.map(({ kind }) => kind))), []);
});
