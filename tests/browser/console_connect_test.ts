// A person allows an MCP client in a real browser, which holds the way back to the policy of the page.
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { BrowserContextOptions, Page } from "playwright-core";
import { hash } from "node:crypto";
import { sessionHash } from "../../lib/access/authenticate_session.ts";
import { acceptLink } from "../../lib/services/people/accept_link.ts";
import { addMember } from "../../lib/services/people/manage_members.ts";
import { keys } from "../../lib/store/keys.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import { launchBrowser, overflow, violations } from "./browser.ts";
import { type ConsoleWorld, openConsole } from "./console_world.ts";
import { unlooked } from "../testing/unlooked.ts";

const NARROW = { width: 360, height: 740 };
const PATIENCE_MS = 120_000;
const VERIFIER = "v".repeat(64);
const PASSWORD = "copper lantern on the hill";

const browser = await launchBrowser();

/** A program on this machine that waits for its code. */
interface Program {
  readonly redirectUri: string;
  readonly clientId: string;
  /** Where the browser came back to. */
  readonly callbacks: URL[];
}

interface Parts {
  readonly browser: NonNullable<typeof browser>;
  readonly world: ConsoleWorld;
  readonly program: Program;
  readonly admin: TestPerson;
}

function authorizeUrl({ world, program }: Parts): string {
  const query = new URLSearchParams({
    client_id: program.clientId,
    redirect_uri: program.redirectUri,
    response_type: "code",
    state: "of the program",
    scope: "write",
    resource: `${world.url}/mcp`,
    code_challenge: hash("sha256", VERIFIER, "base64url"),
    code_challenge_method: "S256",
  });
  return `${world.url}/oauth/authorize?${query}`;
}

async function withConsent(
  parts: Parts,
  options: BrowserContextOptions,
  look: (page: Page) => Promise<void>,
): Promise<void> {
  // Colours that are on their way from one theme to the other are nobody's.
  const still = { viewport: NARROW, reducedMotion: "reduce" } as const;
  const context = await parts.browser.newContext({ ...still, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  try {
    const page = await context.newPage();
    await page.goto(authorizeUrl(parts), { waitUntil: "load" });
    await page.getByRole("heading", { name: "Connect Desk agent?" }).waitFor();
    await look(page);
  } finally {
    await context.close();
  }
}

/** The client's last step: what the code is good for. */
async function exchanged({ world, program }: Parts): Promise<string> {
  const callback = program.callbacks.pop();
  assert(callback !== undefined);
  assertEquals(callback.searchParams.get("state"), "of the program");
  assertEquals(callback.searchParams.get("iss"), world.url);
  const answer = await fetch(`${world.url}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: program.clientId,
      code: callback.searchParams.get("code") ?? "",
      code_verifier: VERIFIER,
      redirect_uri: program.redirectUri,
    }),
  });
  const { scope, error } = await answer.json();
  return error ?? scope;
}

/** As after twenty minutes of doing nothing that asks for more. */
async function makeStale({ world: { app } }: Parts, { secret }: Pick<TestPerson, "secret">): Promise<void> {
  const entry = await app.deps.kv.get(keys.consoleSession(sessionHash(secret)));
  assert(typeof entry.value === "object" && entry.value !== null);
  await app.deps.kv.set(entry.key, { ...entry.value, signedInAt: app.deps.clock.now() - 20 * 60_000 });
  app.deps.control.consoleSessions.forgetAll();
}

const steps: Readonly<Record<string, (parts: Parts) => Promise<void>>> = {
  "a member allows by the session, with script and without, on a phone": async (parts) => {
    for (const javaScriptEnabled of [true, false]) {
      await withConsent(parts, { ...parts.world.signedIn(parts.admin), javaScriptEnabled }, async (page) => {
        if (javaScriptEnabled) {
          assertEquals(await violations(page), []);
          assertEquals(await overflow(page), 0);
          await page.emulateMedia({ colorScheme: "dark" });
          assertEquals(await violations(page, "contrast"), []);
        }
        // The address stands in one line, below its name and not beside the empty place of a unit.
        const [name, place] = await Promise.all(
          ["dt", "dd:last-child"].map((part) => page.locator(`.pairs ${part}`).first().boundingBox()),
        );
        assert(name && place && place.x === name.x && place.y > name.y, "not below each other");
        assertMatch(await page.locator("main").innerText(), /localhost:\d+ \(a program on your computer\)/);
        await page.getByRole("button", { name: "Allow", exact: true }).click();
        await page.getByText("You may close this window").waitFor();
      });
      assertEquals(await exchanged(parts), "write");
    }
  },

  "whoever is not signed in is led there and back, or pastes a token": async (parts) => {
    const { token } = await parts.world.app.namespace("pasted");
    await withConsent(parts, {}, async (page) => {
      assertEquals(await violations(page), []);
      const link = await page.getByRole("link", { name: "Sign in to allow it" }).getAttribute("href");
      assertMatch(link ?? "", /^\/console\/-\/sign-in\?next=%2Fconsole%2F-%2Fconnect%3F/);
      await page.getByText("Allow it by a token instead").click();
      await page.getByLabel("Token").fill("not a token");
      await page.getByRole("button", { name: "Allow by this token" }).click();
      await page.getByText("Paste an API token of your own").waitFor();
      assertEquals(await violations(page), []);
      await page.getByLabel("Token").fill(token);
      await page.getByLabel("Read").check();
      await page.getByRole("button", { name: "Allow by this token" }).click();
      await page.getByText("You may close this window").waitFor();
    });
    assertEquals(await exchanged(parts), "read");
  },

  "denying leads back to the program too": async (parts) => {
    await withConsent(parts, parts.world.signedIn(parts.admin), async (page) => {
      await page.getByRole("button", { name: "Deny" }).click();
      await page.getByText("You may close this window").waitFor();
    });
    assertEquals(parts.program.callbacks.pop()?.searchParams.get("error"), "access_denied");
  },

  "a session that is not fresh asks for a proof, a wrong one too, and still leads back": async (parts) => {
    const { app } = parts.world;
    const operator = { ...app.deps, caller: { kind: "operator" } as const };
    const email = "old@example.com";
    const { inviteUrl } = await addMember(operator, { namespaceSlug: "northwind", email, role: "editor" });
    const session = await acceptLink(app.deps.people, {
      token: new URL(inviteUrl).pathname.split("/").at(-1) ?? "",
      browser: { address: "a test", agent: null, replaced: null },
      password: PASSWORD,
    });
    await makeStale(parts, session);
    await withConsent(parts, parts.world.signedIn({ ...parts.admin, ...session }), async (page) => {
      await page.getByRole("button", { name: "Allow", exact: true }).click();
      const confirm = async (password: string) => {
        await page.getByLabel("Password").fill(password);
        await page.getByRole("button", { name: "Confirm and go on" }).click();
      };
      await page.getByRole("heading", { name: "Confirm that it is you" }).waitFor();
      await confirm("not the password");
      // The next page looks like this one until it says what was wrong.
      await page.getByText("neither the password nor a passkey of this account").waitFor();
      await confirm(PASSWORD);
      await page.getByText("You may close this window").waitFor();
    });
    assertEquals(await exchanged(parts), "write");
  },

  "no other page can put it in a frame": async (parts) => {
    const context = await parts.browser.newContext(parts.world.signedIn(parts.admin));
    context.setDefaultTimeout(PATIENCE_MS);
    try {
      const page = await context.newPage();
      await page.goto(new URL("/frame", parts.program.redirectUri).href);
      const failed = Promise.withResolvers<string | undefined>();
      page.on("requestfailed", (request) => {
        if (request.url().includes("/console/-/connect?")) failed.resolve(request.failure()?.errorText);
      });
      await page.setContent(`<iframe src="${authorizeUrl(parts).replaceAll("&", "&amp;")}"></iframe>`);
      assertEquals(await failed.promise, "net::ERR_BLOCKED_BY_RESPONSE");
    } finally {
      await context.close();
    }
  },
};

/** Serves a program's way back, on a port that it has just learnt. */
function serveProgram(callbacks: URL[]): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const url = new URL(request.url);
    if (url.pathname === "/callback") callbacks.push(url);
    const body = `<!doctype html><html lang="en"><link rel="icon" href="data:,">You may close this window`;
    return new Response(body, { headers: { "content-type": "text/html" } });
  });
}

Deno.test({
  name: "the consent page in a browser",
  ignore: browser === null,
  ...unlooked,
  fn: async (t) => {
    assert(browser);
    const world = await openConsole();
    const callbacks: URL[] = [];
    const server = serveProgram(callbacks);
    try {
      await world.app.namespace("northwind");
      const admin = await signIn(world.app, { role: "admin", namespace: "northwind" });
      const redirectUri = `http://localhost:${server.addr.port}/callback`;
      const answer = await fetch(`${world.url}/oauth/register`, {
        method: "POST",
        // Registered without a port: programs learn it when they start.
        body: JSON.stringify({ client_name: "Desk agent", redirect_uris: ["http://localhost/callback"] }),
      });
      const { client_id: clientId } = await answer.json();
      const program = { redirectUri, clientId, callbacks };
      for (const [name, look] of Object.entries(steps)) {
        await t.step({ ...unlooked, name, fn: () => look({ browser, world, program, admin }) });
      }
    } finally {
      await server.shutdown();
      await world.stop();
      await browser.close();
    }
  },
});
