// @libsql/hrana-client over HTTP and sockets, beside a real sqld: whatever an application does with it, it sees the same.
// @ts-types="./hrana_client.d.ts"
import { type Client, openHttp, openWs, type SqlOwner } from "@libsql/hrana-client";
import { assertEquals } from "@std/assert";
import { startSqld } from "../testing/sqld.ts";
import { startApp } from "../testing/start_app.ts";
import { type CaseWorld, clientCases } from "./hrana_client_cases.ts";

interface Server {
  readonly url: string;
  readonly token?: string;
}

async function within(client: Client, owner: SqlOwner | null, ask: (world: CaseWorld) => Promise<unknown>) {
  try {
    await client.getVersion();
    const stream = client.openStream();
    return await ask({ client, stream, owner: owner ?? stream });
  } finally {
    client.close();
  }
}

const ways: Readonly<
  Record<string, (server: Server, ask: (world: CaseWorld) => Promise<unknown>) => Promise<unknown>>
> = {
  http: ({ url, token }, ask) => within(openHttp(url, token, undefined, undefined, 3), null, ask),
  ws: ({ url, token }, ask) => {
    const client = openWs(url.replace("http:", "ws:"), token, 3);
    return within(client, client, ask);
  },
};

/** Over HTTP this client speaks the newest version by Protobuf only, and falls back to JSON of the one before. */
const missing = (error: Error) => error.name;

Deno.test("@libsql/hrana-client", async (t) => {
  await using app = await startApp();
  const { token } = await app.namespace("acme");
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, app.app.fetch);
  const here = { url: `http://127.0.0.1:${server.addr.port}/hrana/acme/main/`, token };
  const sqld = await startSqld();
  try {
    for (const [way, ask] of Object.entries(ways)) {
      for (const [name, one] of Object.entries(clientCases)) {
        const fn = async () => {
          const isOlder = way === "http" && one.since3;
          const seen = await (isOlder ? ask(here, one.ask).catch(missing) : ask(here, one.ask));
          assertEquals(seen, isOlder ? "ProtocolVersionError" : one.sees, "here");
          if (sqld === null || one.notOnSqld) return;
          assertEquals(await ask({ url: sqld.url }, one.ask), one.sees, "sqld");
        };
        await t.step({ name: `${way}: ${name}`, fn, sanitizeOps: false, sanitizeResources: false });
      }
    }
  } finally {
    await sqld?.stop();
    await server.shutdown();
  }
});
