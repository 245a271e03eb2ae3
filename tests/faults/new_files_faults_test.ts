// Kills of the service while it makes databases: whoever was answered has one, and every one that is listed is whole.
import { assert, assertEquals } from "@std/assert";
import { rounds } from "../testing/rounds.ts";
import { type RunningService, startService } from "../testing/start_service.ts";

const ROUNDS = rounds(3, 20);
const OPERATOR_KEY = "operator-key-of-this-test";
const settings = { DEMO: "0", OPERATOR_KEY, WELCOME_CREDIT_USD: "1" };
const AT_ONCE = 8;

interface Listed {
  readonly slug: string;
  readonly state: string;
}

async function call<T>(
  service: RunningService,
  path: string,
  body?: unknown,
  bearer = OPERATOR_KEY,
): Promise<T> {
  const response = await fetch(service.url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${bearer}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  assert(response.ok, `${path}: ${JSON.stringify(answer)}`);
  return answer.data;
}

async function listed(service: RunningService, namespace: string): Promise<Listed[]> {
  return await call<Listed[]>(service, `/api/namespaces/${namespace}/databases?pageSize=100`);
}

/** Makes databases until the service is killed, which happens after a few answers; the slugs that were answered. */
async function makeUntilKilled(service: RunningService, namespace: string): Promise<string[]> {
  const answered: string[] = [];
  const last = 1 + Math.floor(Math.random() * 12);
  const killed = Promise.withResolvers<void>();
  const worker = async (name: number) => {
    for (let at = 0; answered.length < last; at++) {
      const slug = `w${name}-${at}`;
      await call(service, `/api/namespaces/${namespace}/databases`, { slug });
      answered.push(slug);
      if (answered.length === last) killed.resolve();
    }
  };
  const workers = Promise.allSettled(Array.from({ length: AT_ONCE }, (_, name) => worker(name)));
  await killed.promise;
  await service.kill();
  await workers;
  return answered;
}

Deno.test("databases that a killed service had answered are there, and none is half made", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_new_files_" });
  let service: RunningService = await startService({ folder, settings });
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const slug = `round-${round}`;
      await call(service, "/api/namespaces", { slug });
      const made = await call<{ token: string }>(service, `/api/namespaces/${slug}/tokens`, {
        ...{ name: "t", role: "admin" },
      });
      const answered = await makeUntilKilled(service, slug);
      service = await startService({ folder, settings });
      const there = await listed(service, slug);
      assertEquals(answered.filter((one) => !there.some((database) => database.slug === one)), []);
      for (const database of there) {
        assertEquals(database.state, "ok");
        const path = `/v1/db/${slug}/${database.slug}/query`;
        await call(service, path, { sql: "CREATE TABLE t (a)" }, made.token);
        await call(service, path, { sql: "SELECT count(*) FROM t" }, made.token);
      }
    }
  } finally {
    await service.kill();
    await Deno.remove(folder, { recursive: true });
  }
});
