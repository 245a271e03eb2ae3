// Holds the console to routes/console/pages_table.ts: what is mounted is listed, and lets in whom the table names.
import { assert, assertEquals } from "@std/assert";
import { consoleApp } from "../../routes/console/console_app.ts";
import { type PageAccess, type PageRow, pagesTable } from "../../routes/console/pages_table.ts";
import { docFile } from "../docs/doc_files.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { openPage, sendForm } from "./open_page.ts";

const { run, test } = oneStore();
Deno.test("the console and the table of its pages", run);

/** What a form has to hold so that no refusal of a field hides an open door. */
const forms: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "/console/:ns/databases": { slug: "fresh" },
  "/console/:ns/databases/bring-back": { slug: "gone" },
  "/console/-/namespaces": { slug: "fresh" },
  "/console/:ns/approvals/:id/decide": { decision: "deny", look: "0" },
  "/console/:ns/members": { email: "fresh@example.com", role: "viewer" },
  "/console/:ns/members/:id/role": { role: "viewer" },
  "/console/-/account/password": { password: "weak" },
  "/console/:ns/tokens": { name: "fresh", role: "read" },
  "/console/:ns/settings": { name: "Acme", monthlyCapUsd: "" },
  "/console/:ns/settings/credit": { amountUsd: "1", reference: "invoice-1" },
  "/console/:ns/db/:db/rules": { tableGlob: "*", effect: "deny" },
  "/console/:ns/db/:db/rules/:id": { tableGlob: "*", effect: "deny" },
};

const segments: Readonly<Record<string, string>> = { ns: "acme", db: "main", hash: "0", name: "console.css" };

/** They ask for a proof that this test does not have: 401 says that it was looked at. */
const ASKS_PROOF = ["/console/-/prove", "/console/-/account/passkeys"];
/** Whoever has been there has no session any more. */
const ENDS = ["/console/-/sign-out"];

const nameOf = ({ method, path }: PageRow) => `${method} ${path}`;

/** Everybody who may come. */
interface Callers {
  readonly viewer: TestPerson;
  readonly editor: TestPerson;
  readonly admin: TestPerson;
  readonly operator: TestPerson;
  readonly stranger: TestPerson;
}

async function callersOf(app: StartedApp): Promise<Callers> {
  await app.namespace("acme");
  await app.namespace("other");
  return {
    viewer: await signIn(app, { role: "viewer" }),
    editor: await signIn(app, { role: "editor" }),
    admin: await signIn(app, { role: "admin" }),
    operator: await signIn(app, { role: "operator" }),
    stranger: await signIn(app, { role: "admin", namespace: "other" }),
  };
}

async function knock(app: StartedApp, row: PageRow, person: TestPerson | null) {
  const path = row.path.replace(/:(\w+)/g, (_, name) => segments[name] ?? `${name}-none`);
  if (row.method === "GET") return await openPage(app, path, person);
  return await sendForm(app, { path, fields: forms[row.path] ?? {}, person });
}

const refused: Readonly<Record<PageAccess, readonly (keyof Callers)[]>> = {
  anybody: [],
  signed_in: [],
  member: ["operator"],
  viewer: ["stranger"],
  editor: ["stranger", "viewer"],
  admin: ["stranger", "viewer", "editor"],
  operator: ["stranger", "viewer", "editor", "admin"],
};

test("every address of the console is in the table, and every row of it is mounted", async () => {
  await using started = await startApp();
  const { routes } = await consoleApp(started.deps);
  const mounted = routes.filter(({ method }) => method !== "ALL").map(({ method, path }) =>
    `${method} ${path}`
  );
  assertEquals([...new Set(mounted)].sort(), pagesTable.map(nameOf).sort());
});

test("the documentation lists every address with who gets in", async () => {
  const rows = [
    ...(await docFile("routes/docs/console.md")).text.matchAll(/^- `(\S+ \/console\S*)` \((\w+)\): [A-Z]/gm),
  ];
  assertEquals(
    rows.map(([, name, access]) => `${name} ${access}`),
    pagesTable.map((row) => `${nameOf(row)} ${row.access}`),
  );
});

test("every address turns away whom its row leaves out, and lets in everybody else", async () => {
  await using app = await startApp();
  const callers = await callersOf(app);
  const guarded = pagesTable.filter(({ access }) => access !== "anybody");
  for (const row of guarded) {
    const nobody = await knock(app, row, null);
    if (row.method === "GET") {
      assertEquals(nobody.status, 302, nameOf(row));
      assert(nobody.headers.get("location")?.startsWith("/console/-/sign-in"), nameOf(row));
    } else assertEquals(nobody.status, 401, nameOf(row));
    for (const who of refused[row.access]) {
      assertEquals((await knock(app, row, callers[who])).status, 403, `${nameOf(row)}: ${who}`);
    }
  }
  for (
    const row of guarded.toSorted((a, b) => Number(ENDS.includes(a.path)) - Number(ENDS.includes(b.path)))
  ) {
    for (const who of ["viewer", "editor", "admin", "operator"] as const) {
      if (refused[row.access].includes(who)) continue;
      const { status, text } = await knock(app, row, callers[who]);
      if (ASKS_PROOF.includes(row.path) && status === 401) continue;
      assert(![401, 403, 500].includes(status), `${nameOf(row)}: ${who} got ${status}: ${text.slice(-300)}`);
    }
  }
});

test("whoever opens the address of a form is led to the page that it stands on", async () => {
  await using app = await startApp();
  const { admin } = await callersOf(app);
  const paths = (method: string) =>
    new Set(pagesTable.filter((row) => row.method === method).map((row) => row.path));
  const pages = paths("GET");
  const led: Record<string, string> = {};
  for (const path of [...paths("POST")].filter((one) => !pages.has(one))) {
    const { status, headers } = await openPage(app, path.replaceAll(":", ""), admin);
    assertEquals(status, 302, path);
    led[path] = headers.get("location") ?? "";
    const isPage = [...pages].some((page) => page.replaceAll(":", "") === led[path]);
    assert(isPage, `${path} leads to ${led[path]}`);
  }
  assertEquals(led["/console/:ns/databases/bring-back"], "/console/ns");
  assertEquals(led["/console/:ns/db/:db/endpoints/-/check"], "/console/ns/db/db/endpoints");
  assertEquals(led["/console/:ns/db/:db/branches/:ref/merge"], "/console/ns/db/db/branches/ref");
  assertEquals(led["/console/-/prove"], "/console");
  const forScript = await openPage(app, "/console/acme/databases", admin, { accept: "application/json" });
  assertEquals([forScript.status, forScript.headers.get("allow")], [405, "POST"]);
});

test("a form without the session's token, or from elsewhere, changes nothing", async () => {
  await using app = await startApp();
  const { admin, operator } = await callersOf(app);
  for (const row of pagesTable.filter(({ method, access }) => method === "POST" && access !== "anybody")) {
    const path = row.path.replace(/:(\w+)/g, (_, name) => segments[name] ?? `${name}-none`);
    const form = { path, fields: forms[row.path] ?? {}, person: admin };
    const answers = [
      await sendForm(app, { ...form, csrf: "" }),
      await sendForm(app, { ...form, csrf: operator.csrfToken }),
      await sendForm(app, { ...form, headers: { origin: "https://elsewhere.example" } }),
      await sendForm(app, { ...form, headers: { origin: "null" } }),
    ];
    assertEquals(answers.map(({ status }) => status), [403, 403, 403, 403], nameOf(row));
  }
});
