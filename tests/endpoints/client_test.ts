// The generated TypeScript client: it passes the type checker, and calls what is published.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type EndpointWorld, endpointWorld, ORDERS, readSpec } from "./endpoint_world.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("client", run);

const hostile = readSpec({
  ...{ slug: "hostile--case", name: "Ends */ the comment", description: "and\nthe line `${x}` \u2028 \"'\\" },
  sql: 'SELECT note AS "a""b", count(*) AS constructor FROM orders WHERE note = ?',
  input: [{ name: "constructor", type: "text", enum: ['"];', "*/", "`"], label: "*/ x" }],
});

async function publish(world: EndpointWorld, spec: Record<string, unknown>): Promise<void> {
  const made = await world.call("POST", "", spec);
  assertEquals(made.status, 201, made.text);
  await world.call("POST", `/${String(spec["slug"])}/publish`);
}

async function world(): Promise<EndpointWorld> {
  const made = await endpointWorld([
    ORDERS,
    "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age REAL)",
  ]);
  await made.call("POST", "/scaffold-crud", { table: "people" });
  for (const slug of ["list-people", "get-person", "create-person"]) {
    await made.call("POST", `/${slug}/publish`);
  }
  await publish(
    made,
    readSpec({
      ...{ slug: "pages", output: "page", sql: "SELECT id, name FROM people", list: { key: ["id"] } },
      input: [{ name: "sort", type: "text", enum: ["id", "-id"] }, { name: "cursor", type: "text" }],
    }),
  );
  await publish(made, readSpec({ auth: "session", input: [{ name: "$user_id", type: "integer" }] }));
  await publish(made, hostile);
  await publish(made, readSpec({ slug: "hostile-case", captcha: true, sql: "SELECT 1", input: [] }));
  await publish(
    made,
    readSpec({
      ...{ slug: "keep-person", kind: "mutation", method: "POST", output: "rows_written" },
      sql: "INSERT INTO people (id, name) VALUES (?, ?)",
      input: [{ name: "id", type: "integer", required: true }, {
        name: "name",
        type: "text",
        required: true,
      }],
    }),
  );
  await publish(
    made,
    readSpec({
      ...{ slug: "told", method: "POST", sql: "SELECT ? AS told", outputTypes: { told: "json" } },
      input: [{ name: "told", type: "json", required: true }],
    }),
  );
  await publish(made, readSpec({ slug: "a", sql: "SELECT 1 UNION SELECT 2", input: [], output: "rows" }));
  return made;
}

async function inFile<Value>(source: string, use: (path: string) => Promise<Value>): Promise<Value> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_client_" });
  try {
    await Deno.writeTextFile(`${folder}/client.ts`, source);
    return await use(`${folder}/client.ts`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const uses = `
async function use() {
  const client = createClient({ session: () => null });
  const person: { id: number; name: string; age: number | null } | null = (await client.getPerson({ id: 1 })).row;
  const all: [number, string, number | null][] = (await client.listPeople()).rows;
  const { rows: [[, first]], nextCursor, total } = await client.pages({ sort: "-id", cursor: null });
  const page: [string, string | null, number | null] = [first, nextCursor, total];
  const written: number = (await client.createPerson({ name: "Ada" })).rowsWritten;
  // @ts-expect-error: the name is required
  await client.createPerson({ age: 1 });
  // @ts-expect-error: an id is a number
  await client.getPerson({ id: "1" });
  await client.getPerson({ id: 9007199254740993n });
  // @ts-expect-error: a limit of at most 500 needs no bigint
  await client.listPeople({ limit: 5n });
  // @ts-expect-error: the session's field is nobody's to send
  await client.getOrder({ $user_id: 1 });
  await client.getOrder();
  await client.hostileCase({ constructor: "*/" });
  await client.hostileCase_2({}, { captcha: "solved" });
  return [person, all, written];
}
use satisfies () => Promise<unknown>;
`;

test("the client passes the type checker, with types from specifications and columns", async () => {
  await using made = await world();
  const answer = await made.app.app.request("/p/acme/main/client.ts");
  assertEquals(answer.status, 200);
  assertEquals(answer.headers.get("content-type"), "text/typescript; charset=utf-8");
  const source = await answer.text();
  const { code, stderr } = await inFile(source + uses, (path) =>
    new Deno.Command(Deno.execPath(), {
      args: ["check", "--no-config", "--no-lock", "--quiet", path],
      stderr: "piped",
    }).output());
  assertEquals(code, 0, new TextDecoder().decode(stderr) + source);
});

/** Calls behind the client's own source, with `url` for where the service is; prints what they answered. */
const calls = (url: string) => `
const LARGE = { deep: [{ real: 2 ** 60 }, , -1e300], whole: 9007199254740993n, small: 5n, at: new Date(0), gone: undefined };
const client = createClient({ url: ${JSON.stringify(`${url}p/acme/main`)} });
/** In a page that came by http from elsewhere browsers have no subtle. */
const unsafe = async (work: () => Promise<string>) => {
  Object.defineProperty(crypto, "subtle", { value: undefined });
  return await work();
};
const failure = (error: EndpointError) => [error instanceof EndpointError, error.status, error.failure.code];
console.log(JSON.stringify([
  await client.createPerson({ name: "Ada", age: 36.5 }),
  await client.getPerson({ id: 1 }),
  (await client.listPeople({ limit: 5 })).rows,
  await client.keepPerson({ id: 9007199254740993n, name: "Large" }),
  await client.keepPerson({ id: 5n, name: "Small" }),
  (await client.getPerson({ id: 9007199254740993n })).row,
  (await client.getPerson({ id: 5n })).row,
  await client.createPerson({ name: "Old", age: 2 ** 60 }),
  (await client.listPeople({ limit: 500 })).rows.filter(([, name]) => name === "Old").map(([, , age]) => age === 2 ** 60),
  (await client.told({ told: LARGE })).row?.told,
  await client.getPerson({ id: Number.NaN }).catch(failure),
  await client.getOrder().catch(failure),
  await client.hostileCase_2({}, { captcha: "unsolved" }).catch(failure),
  await client.hostileCase_2({}, { captcha: await solveCaptcha("hostile-case", { url: ${
  JSON.stringify(`${url}p/acme/main`)
} }) }),
  await solveCaptcha("list-people", { url: ${JSON.stringify(`${url}p/acme/main`)} }).catch(failure),
  await unsafe(() => solveCaptcha("hostile-case").catch(({ message }) => message)),
]));
`;

test("the client calls the service, and its failures are errors with the answer in them", async () => {
  await using made = await world();
  const source = await (await made.app.app.request("/p/acme/main/client.ts")).text();
  assertStringIncludes(source, 'const URL_OF_DATABASE = "http://127.0.0.1/p/acme/main";');
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, made.app.app.fetch);
  const { stdout, stderr } = await inFile(
    source + calls(`http://127.0.0.1:${server.addr.port}/`),
    (path) =>
      new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-check", "--no-config", "--no-lock", "--quiet", "--allow-net=127.0.0.1", path],
        stdout: "piped",
        stderr: "piped",
      }).output(),
  );
  const said = new TextDecoder().decode(stdout);
  assert(said !== "", new TextDecoder().decode(stderr));
  assertEquals(JSON.parse(said), [
    { rowsWritten: 1 },
    { row: { id: 1, name: "Ada", age: 36.5 } },
    [[1, "Ada", 36.5]],
    { rowsWritten: 1 },
    { rowsWritten: 1 },
    { id: "9007199254740993", name: "Large", age: null },
    { id: 5, name: "Small", age: null },
    // A REAL goes back as it came, though JavaScript writes its digits rounded.
    { rowsWritten: 1 },
    [true],
    // Numbers keep their value at any depth, and a BigInt its digits.
    {
      ...{ deep: [{ real: 2 ** 60 }, null, -1e300], whole: "9007199254740993", small: 5 },
      at: "1970-01-01T00:00:00.000Z",
    },
    [true, 400, "validation_failed"],
    [true, 401, "session_required"],
    [true, 403, "captcha_failed"],
    { row: { 1: 1 } },
    [true, 404, "endpoint_not_found"],
    "Serve the page by https, or from localhost: browsers solve captchas nowhere else",
  ]);
});

test("the client takes bytes in each form in which a program has them, a file of a page among them", async () => {
  await using made = await endpointWorld();
  const input = [{ name: "bytes", type: "blob", required: true }];
  await publish(made, readSpec({ ...{ slug: "sent", method: "POST", sql: "SELECT hex(?) AS sent" }, input }));
  await publish(made, readSpec({ ...{ slug: "asked", sql: "SELECT hex(?) AS sent" }, input }));
  const source = await (await made.app.app.request("/p/acme/main/client.ts")).text();
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, made.app.app.fetch);
  const uses = `
import { Buffer } from "node:buffer";
const client = createClient({ url: "http://127.0.0.1:${server.addr.port}/p/acme/main" });
const bytes = new Uint8Array([255, 0]);
const forms = [bytes, Buffer.from(bytes), bytes.buffer, new File([bytes], "a.png")];
for (const form of forms) {
  console.log((await client.sent({ bytes: form })).row?.sent, (await client.asked({ bytes: form })).row?.sent);
}
console.log((await client.sent({ bytes: { $blob: "/wA=" } })).row?.sent);
`;
  const { stdout, stderr } = await inFile(source + uses, (path) =>
    new Deno.Command(Deno.execPath(), {
      args: ["run", "--check", "--no-config", "--no-lock", "--quiet", "--allow-net=127.0.0.1", path],
      stdout: "piped",
      stderr: "piped",
    }).output());
  assertEquals(
    new TextDecoder().decode(stdout),
    "FF00 FF00\n".repeat(4) + "FF00\n",
    new TextDecoder().decode(stderr),
  );
});

test("a client is a value that can be awaited, whatever an endpoint is called", async () => {
  await using made = await endpointWorld();
  await publish(made, readSpec({ slug: "then", sql: "SELECT 1", input: [] }));
  const source = await (await made.app.app.request("/p/acme/main/client.ts")).text();
  const uses = "\nconst awaited = await createClient();\nconsole.log(Object.keys(awaited).join());\n";
  const { stdout } = await inFile(source + uses, (path) =>
    new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "--no-config", "--no-lock", "--quiet", path],
      stdout: "piped",
      stderr: "null",
    }).output());
  assertEquals(new TextDecoder().decode(stdout).trim(), "then_2");
});

/** One real call, and answers that no service of this kind gives. */
const plainCalls = (url: string) => `
const answers = [
  Response.json({ success: false, error: "Slow down", code: "rate_limited" }, {
    status: 429,
    headers: { "retry-after": "7", "ratelimit": "x" },
  }),
  new Response("<html>", { status: 502 }),
  new Response("fine", { status: 200 }),
];
const real = createClient({ url: ${JSON.stringify(`${url}p/acme/main`)} });
const client = createClient({ fetch: () => Promise.resolve(answers.shift()) });
const failed = () =>
  client.getPerson({ id: 1 }).catch((error) => [
    error instanceof EndpointError,
    error.status,
    error.failure.code,
    error.retryAfterSec,
    error.headers.get("ratelimit"),
  ]);
console.log(JSON.stringify([
  await real.createPerson({ name: "Ada" }),
  await failed(),
  await failed(),
  await failed(),
]));
`;

test("the client as plain JavaScript runs, and its errors carry headers and what is no JSON", async () => {
  await using made = await world();
  const answer = await made.app.app.request("/p/acme/main/client.js");
  assertEquals(answer.headers.get("content-type"), "text/javascript; charset=utf-8");
  const source = await answer.text();
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, made.app.app.fetch);
  const { stdout, stderr } = await inFile(
    source + plainCalls(`http://127.0.0.1:${server.addr.port}/`),
    async (path) => {
      const plain = path.replace(/ts$/, "js");
      await Deno.rename(path, plain);
      return await new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-config", "--no-lock", "--quiet", "--allow-net=127.0.0.1", plain],
        stdout: "piped",
        stderr: "piped",
      }).output();
    },
  );
  const said = new TextDecoder().decode(stdout);
  assert(said !== "", new TextDecoder().decode(stderr));
  assertEquals(JSON.parse(said), [
    { rowsWritten: 1 },
    [true, 429, "rate_limited", 7, "x"],
    [true, 502, "not_json", null, null],
    [true, 200, "not_json", null, null],
  ]);
});
