// Clients whose id is the address of a document: what it says counts, from where it says it, and nothing inside is asked.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { oauthLimits } from "../../lib/core/oauth_limits.ts";
import type { ReadDocument } from "../../lib/services/oauth/client_documents.ts";
import { startApp } from "../testing/start_app.ts";
import {
  allow,
  callerAtMcp,
  connect,
  errorOf,
  exchange,
  type OauthWorld,
  oauthWorld,
  REDIRECT_URI,
  refresh,
  tokensOf,
} from "./oauth_world.ts";
import { openPage } from "../console/open_page.ts";

const ADDRESS = "https://client.example/oauth/client.json";

const DOCUMENT = {
  client_id: ADDRESS,
  client_name: "A client by document",
  redirect_uris: [REDIRECT_URI],
  token_endpoint_auth_method: "none",
  logo_uri: "https://client.example/logo.png",
};

async function pageFor({ app, admin }: OauthWorld, clientId: string, redirectUri = REDIRECT_URI) {
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    code_challenge: "a".repeat(43),
    code_challenge_method: "S256",
  });
  return await openPage(app, `/console/-/connect?${query}`, admin);
}

/** Name → what is done with documents that `answer` gives. */
const steps: Readonly<
  Record<string, (world: OauthWorld, answer: (read: ReadDocument) => void) => Promise<void>>
> = {
  "a client connects by its document, which is read once for some minutes": async (world, answer) => {
    const read: string[] = [];
    answer((url) => {
      read.push(url.href);
      return Promise.resolve(DOCUMENT);
    });
    const own = { ...world, client: { client_id: ADDRESS } };
    const page = await pageFor(own, ADDRESS);
    assertMatch(page.text, /Connect A client by document\?/);
    assertMatch(page.text, /https:\/\/client\.example\/oauth\/client\.json/);
    const consent = await allow(own, { changed: { client_id: ADDRESS } });
    const first = await tokensOf(own, await exchange(own, consent));
    const second = await tokensOf(own, await refresh(own, first.refresh));
    assertEquals((await callerAtMcp(own, second.access)).name, "A client by document");
    assertEquals(read, [ADDRESS]);
    // Such a client has nothing to register again.
    const others = await connect(world);
    assertEquals(await errorOf(await refresh(own, others.refresh)), "400 invalid_grant");
  },

  "a document that is not the client's own, or names other addresses, lets nobody in": async (
    world,
    answer,
  ) => {
    const at = (path: string) => `https://client.example/${path}`;
    const documents: Readonly<Record<string, unknown>> = {
      [at("none")]: null,
      [at("list")]: [],
      [at("text")]: "client",
      [at("copy")]: DOCUMENT,
      [at("nowhere")]: { client_id: at("nowhere"), redirect_uris: [] },
      [at("script")]: { client_id: at("script"), redirect_uris: ["javascript:alert(1)"] },
    };
    answer(({ href }) => {
      const fine = { ...DOCUMENT, client_id: href };
      return Promise.resolve(Object.hasOwn(documents, href) ? documents[href] : fine);
    });
    for (const address of Object.keys(documents)) {
      const { status, headers } = await pageFor(world, address);
      assert([400, 401].includes(status) && !headers.has("location"), `${address}: ${status}`);
    }
    assertEquals((await pageFor(world, at("fine"))).status, 200);
    const elsewhere = await pageFor(world, at("fine"), "https://evil.example/callback");
    assertEquals([elsewhere.status, elsewhere.headers.get("location")], [400, null]);
  },

  "no document is asked for at an address that is not written as one": async (world, answer) => {
    const read: string[] = [];
    answer(({ href }) => {
      read.push(href);
      return Promise.resolve({ ...DOCUMENT, client_id: href });
    });
    const addresses = [
      "http://client.example/client.json",
      "https://client.example:8443/client.json",
      "https://user@client.example/client.json",
      "https://:password@client.example/client.json",
      "https://client.example/client.json#x",
      "https://client.example/",
      "https://client.example/a/../client.json",
      "https://CLIENT.example/client.json",
      `https://client.example/${"a".repeat(oauthLimits.clientIdLength)}`,
    ];
    for (const address of addresses) {
      const { status, text } = await pageFor(world, address);
      assertEquals([status, read], [401, []], address);
      assertMatch(text, /Check the client&#39;s address/);
    }
  },

  "few documents are read at once, however many ask": async (world, answer) => {
    const waiting = Promise.withResolvers<unknown>();
    let reading = 0;
    answer(async () => {
      reading++;
      return await waiting.promise;
    });
    const tooMany = 5;
    const refused = Promise.withResolvers<void>();
    let count = 0;
    const asked = Array.from({ length: oauthLimits.documentsAtOnce + tooMany }, async (_, at) => {
      const { status } = await pageFor(world, `https://client.example/busy/${at}`);
      if (status === 429 && ++count === tooMany) refused.resolve();
      return status;
    });
    await refused.promise;
    assertEquals(reading, oauthLimits.documentsAtOnce);
    waiting.resolve(null);
    const answers = await Promise.all(asked);
    assertEquals(answers.filter((status) => status === 401).length, oauthLimits.documentsAtOnce);
  },
};

Deno.test("clients by document", async (t) => {
  let read: ReadDocument = () => Promise.resolve(null);
  await using app = await startApp({ readDocument: (url) => read(url) });
  for (const [at, [name, run]] of Object.entries(steps).entries()) {
    const fn = async () => await run(await oauthWorld(app, `acme-${at}`), (next) => void (read = next));
    await t.step({ name, fn, sanitizeOps: false, sanitizeResources: false });
  }
});

Deno.test("no document is asked for at an address that is not a public server's", async () => {
  // With the network as it is: what is refused here is refused before anything is sent.
  await using app = await startApp();
  const world = await oauthWorld(app, "acme");
  const addresses = [
    "https://localhost/client.json",
    "https://localhost.localdomain/client.json",
    "https://127.0.0.1/client.json",
    "https://2130706433/client.json",
    "https://0x7f.1/client.json",
    "https://[::1]/client.json",
    "https://[::ffff:7f00:1]/client.json",
    "https://10.0.0.1/client.json",
    "https://169.254.169.254/latest/meta-data",
  ];
  for (const address of addresses) {
    const { status, text } = await pageFor(world, address);
    assertEquals(status, 401, address);
    assertMatch(text, /Check the client&#39;s address/);
  }
});
