// A service that is killed while codes are exchanged: what counts once counts once, and nothing is left half given.
import { assert, assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { type RunningService, startService } from "../testing/start_service.ts";

const REDIRECT_URI = "https://client.example/callback";
const VERIFIER = "v".repeat(64);
const CODES = 12;
const FORM = { "content-type": "application/x-www-form-urlencoded" };

function demoToken(service: RunningService): string {
  return /cub_live_\w+/.exec(service.output())?.[0] ?? "";
}

async function register({ url }: RunningService): Promise<string> {
  const body = JSON.stringify({ redirect_uris: [REDIRECT_URI], client_name: "Test client" });
  const answer = await fetch(`${url}/oauth/register`, { method: "POST", body });
  return (await answer.json()).client_id;
}

/** A code, allowed by a token. */
async function allow({ url }: RunningService, clientId: string, token: string): Promise<string> {
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    response_type: "code",
    code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"),
    code_challenge_method: "S256",
  });
  const answer = await fetch(`${url}/console/-/connect?${query}`, {
    method: "POST",
    headers: { ...FORM, origin: url },
    body: new URLSearchParams({ token, role: "read", decision: "allow" }),
    redirect: "manual",
  });
  await answer.body?.cancel();
  assertEquals(answer.status, 303);
  return new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
}

/** The access token; `used` where the code is not good any more, null where no answer came. */
async function exchange({ url }: RunningService, clientId: string, code: string): Promise<string | null> {
  try {
    const answer = await fetch(`${url}/oauth/token`, {
      method: "POST",
      headers: FORM,
      body: new URLSearchParams({
        grant_type: "authorization_code",
        client_id: clientId,
        code,
        code_verifier: VERIFIER,
      }),
    });
    const { access_token, error } = await answer.json();
    if (error !== undefined) assertEquals(error, "invalid_grant");
    return access_token ?? "used";
  } catch (error) {
    if (!(error instanceof TypeError) && !(error instanceof SyntaxError)) throw error; // the connection broke
    return null;
  }
}

async function isLive({ url }: RunningService, token: string): Promise<boolean> {
  const answer = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  await answer.body?.cancel();
  assert([200, 401].includes(answer.status), `${answer.status}`);
  return answer.status === 200;
}

async function connections({ url }: RunningService, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/api/namespaces/demo/tokens`, { headers });
  const { data }: { data: readonly { readonly audience: string | null }[] } = await answer.json();
  return data.filter(({ audience }) => audience === "mcp").length;
}

Deno.test("after kill -9 in an exchange a code is good still or used up, never both", async () => {
  const folder = await Deno.makeTempDir({ prefix: "cubby_oauth_" });
  try {
    await using service = await startService({ folder });
    const token = demoToken(service);
    const clientId = await register(service);
    const codes: string[] = [];
    for (let at = 0; at < CODES; at++) codes.push(await allow(service, clientId, token));
    const asked = codes.map((code) => exchange(service, clientId, code));
    // Some have their answer by now, some are in their commit, some have not begun.
    await Promise.race(asked);
    await service.kill();
    const before = await Promise.all(asked);
    assert(before.some((one) => one !== null));

    await using again = await startService({ folder });
    let good = 0;
    for (const [at, code] of codes.entries()) {
      const first = before[at] ?? null;
      const second = await exchange(again, clientId, code);
      assert(second !== null);
      if (second !== "used") {
        assertEquals(first, null, "a code has given tokens twice");
        assert(await isLive(again, second));
        good++;
      } else if (first !== null) assertEquals(await isLive(again, first), false);
    }
    // What was given and never arrived has ended with the second try.
    assertEquals(await connections(again, token), good);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
