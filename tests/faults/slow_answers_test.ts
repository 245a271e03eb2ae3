// Clients who ask for the largest answers and take nothing of them, under the permissions that people run the service with.
import { assert, assertEquals } from "@std/assert";
import { RawClient } from "../testing/raw_client.ts";
import { callService, manage, serviceWorld } from "../testing/service_world.ts";

const CLIENTS = 40;
const RESULT = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 150) " +
  "SELECT x, printf('%100000d', x) AS t FROM c";
const INSERT =
  "INSERT INTO t SELECT printf('%01000000d', 1) FROM (VALUES (1), (2), (3), (4), (5), (6)) RETURNING *";

/** What a process has at this moment, in MB. Linux only: 0 elsewhere. */
async function residentMb(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  return Number(/VmRSS:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

Deno.test("forty clients who take nothing of the largest answers cost little memory, and what they wrote is there", async () => {
  await using world = await serviceWorld({ QUERY_TIMEOUT_MS: "120000" });
  assertEquals((await callService(world, "CREATE TABLE t (a)")).status, 200);
  const clients: RawClient[] = [];
  const ask = async (sql: string) => {
    const client = await RawClient.connect(Number(new URL(world.service.url).port));
    clients.push(client);
    const body = JSON.stringify({ sql });
    await client.send(
      `POST /v1/db/acme/main/query HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${world.token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    // Its answer has begun, so its call is over.
    await client.bytes(1);
    return client;
  };
  try {
    const writer = await ask(INSERT);
    for (let at = 0; at < CLIENTS; at++) await ask(RESULT);
    const heldMb = await residentMb(world.service.pid);
    assert(heldMb < 450, `${heldMb} MB`);
    const { status, body } = await callService(world, "SELECT count(*) FROM t");
    assertEquals([status, body.data?.rows], [200, [[6]]]);
    const { body: log } = await callService(
      world,
      "SELECT count(*) FROM _service_meta_query_log WHERE status = 'ok'",
    );
    assertEquals(Number(log.data?.rows[0]?.[0]) >= CLIENTS + 2, true);
    // Slowly, and whole.
    assert(await writer.take(5_900_000) >= 5_900_000);
    assert(await (clients.at(-1)?.take(14_900_000) ?? 0) >= 14_900_000);
  } finally {
    for (const client of clients) client.close();
  }
});

Deno.test("forty clients who take nothing of the longest lists and descriptions of endpoints cost little memory, and get them whole", async () => {
  await using world = await serviceWorld();
  const path = "/acme/databases/main/endpoints";
  const values = Array.from({ length: 112 }, (_, at) => String(at).padEnd(500, "y"));
  const input = [{ name: "i", type: "text", enum: values }];
  for (let at = 0; at < 250; at++) {
    const slug = `e${at}`;
    const spec = { slug, name: slug, kind: "query", method: "GET", sql: "SELECT :i", input, output: "rows" };
    await manage(world, path, spec);
    await manage(world, `${path}/${slug}/publish`, {});
  }
  const documents = [
    ...["openapi.json", ".well-known/endpoints.json", "client.ts"].map((name) => `/p/acme/main/${name}`),
    `/api/namespaces${path}`,
  ];
  const authorization = `Bearer ${world.token}`;
  const wholes = new Map<string, string>();
  for (const name of documents) {
    const answer = await fetch(world.service.url + name, { headers: { authorization } });
    assertEquals([answer.status, answer.headers.has("access-control-allow-origin")], [
      200,
      name.startsWith("/p/"),
    ]);
    wholes.set(name, await answer.text());
    assert((wholes.get(name)?.length ?? 0) > 14_000_000, name);
  }
  const clients: RawClient[] = [];
  try {
    const ask = async (name: string) => {
      const client = await RawClient.connect(Number(new URL(world.service.url).port));
      clients.push(client);
      await client.send(`GET ${name} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`);
      await client.bytes(1);
      return { client, name };
    };
    const last = await Promise.all(
      Array.from({ length: CLIENTS }, (_, at) => ask(documents[at % documents.length] ?? "")),
    );
    const heldMb = await residentMb(world.service.pid);
    assert(heldMb < 600, `${heldMb} MB`);
    for (const { client, name } of last.slice(-documents.length)) {
      assert(await client.take(wholes.get(name)?.length ?? 0) >= (wholes.get(name)?.length ?? 0) - 65_536);
    }
  } finally {
    for (const client of clients) client.close();
  }
});

Deno.test("forty clients who take nothing of large approvals cost little memory, and get them whole", async () => {
  await using world = await serviceWorld();
  for (const sql of ["CREATE TABLE t (a)", "INSERT INTO t VALUES (1), (2), (3), (4)"]) {
    await callService(world, sql);
  }
  await manage(world, "/acme/databases/main/rules", { tableGlob: "t", effect: "require_approval" });
  await callService(world, "UPDATE t SET a = printf('%02000000d', a)");
  const list = "/api/namespaces/acme/approvals";
  const headers = { authorization: `Bearer ${world.token}` };
  const { data: [held] } = await (await fetch(world.service.url + list, { headers })).json();
  const clients: RawClient[] = [];
  try {
    const ask = async (path: string) => {
      const client = await RawClient.connect(Number(new URL(world.service.url).port));
      clients.push(client);
      await client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${headers.authorization}\r\n\r\n`);
      await client.bytes(1);
      return client;
    };
    const asked = Array.from({ length: CLIENTS }, (_, at) => ask(at % 2 ? list : `${list}/${held.id}`));
    const [page, inList] = (await Promise.all(asked)).slice(-2);
    const heldMb = await residentMb(world.service.pid);
    assert(heldMb < 500, `${heldMb} MB`);
    assert(await (page?.take(15_900_000) ?? 0) >= 15_900_000);
    assert(await (inList?.take(7_900_000) ?? 0) >= 7_900_000);
  } finally {
    for (const client of clients) client.close();
  }
});
