// Holds the app to routes/security_table.ts for people who have signed in: a viewer, an editor and an admin of the
// namespace, an admin of another one, the operator.
import { assert, assertEquals } from "@std/assert";
import type { Access } from "../../routes/security_table.ts";
import { signIn, type TestPerson } from "../testing/person.ts";
import { startApp, type StartedApp } from "../testing/start_app.ts";
import { TurnableClock } from "../testing/turnable_clock.ts";
import { guarded, IN_MEMORY, knock, nameOf } from "./knock.ts";

type Person = "viewer" | "editor" | "admin" | "foreigner" | "operator";

/** Whoever is not named here is let in. */
const refused: Readonly<Record<string, Partial<Record<Person, string>>>> = {
  operator: {
    ...{ viewer: "operator_required", editor: "operator_required" },
    ...{ admin: "operator_required", foreigner: "operator_required" },
  },
  namespace_reader: { foreigner: "namespace_mismatch" },
  namespace_admin: { viewer: "role_too_low", editor: "role_too_low", foreigner: "namespace_mismatch" },
  person: { viewer: "role_too_low", editor: "role_too_low", foreigner: "namespace_mismatch" },
  self: {},
  member: { operator: "member_required" },
};

/** What proofs that prove nothing are told, once the door is open. */
const WRONG = ["sign_in_failed", "passkey_refused"];
const people: readonly Person[] = ["viewer", "editor", "foreigner", "admin", "operator"];
const byCookie = guarded.filter(({ path }) => path.startsWith("/api/"));

/** What cannot be taken back, or gives power to somebody. */
const takesNewSignIn: readonly string[] = [
  "GET /api/backup",
  "PATCH /api/namespaces/:slug",
  "DELETE /api/namespaces/:slug",
  "DELETE /api/namespaces/:slug/databases/:dbSlug",
  "POST /api/namespaces/:slug/databases/restore",
  "POST /api/namespaces/:slug/databases/:dbSlug/sessions/revoke_all",
  "POST /api/namespaces/:slug/tokens",
  "DELETE /api/namespaces/:slug/tokens/:id",
  "POST /api/namespaces/:slug/members",
  "PATCH /api/namespaces/:slug/members/:id",
  "DELETE /api/namespaces/:slug/members/:id",
  "POST /api/namespaces/:slug/members/:id/invite",
  "PATCH /api/namespaces/:slug/databases/:dbSlug/rules/:id",
  "DELETE /api/namespaces/:slug/databases/:dbSlug/rules/:id",
  "DELETE /api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint",
  "POST /api/namespaces/:slug/databases/:dbSlug/endpoints/:endpoint/link",
  "POST /api/namespaces/:slug/databases/:dbSlug/webhooks",
  "PATCH /api/namespaces/:slug/databases/:dbSlug/webhooks/:id",
  "DELETE /api/namespaces/:slug/databases/:dbSlug/webhooks/:id",
  "POST /api/namespaces/:slug/approvals/:id/approve",
  "POST /api/namespaces/:slug/approvals/:id/deny",
  "POST /api/namespaces/:slug/credits",
  "POST /api/me/passkeys/options",
  "POST /api/me/passkeys",
  "DELETE /api/me/passkeys/:id",
];
const QUARTER_MS = 15 * 60_000;

Deno.test("people who have signed in", async (t) => {
  const clock = new TurnableClock();
  await using started = await startApp({ clock });
  const acme = await started.namespace("acme");
  await acme.query("CREATE TABLE things (id INTEGER PRIMARY KEY)");
  await started.namespace("other");
  const who = await allOf(started);
  const step = (name: string, fn: () => Promise<void>) =>
    t.step({ name, fn, sanitizeOps: false, sanitizeResources: false });

  await step("no route outside of /api knows their cookie", async () => {
    const elsewhere = guarded.filter(({ path }) => path.startsWith("/v1/"));
    assert(elsewhere.length > 0);
    for (const route of elsewhere) {
      const { status, code } = await knock(started, route, who.operator.headers);
      assertEquals({ status, code }, { status: 401, code: "missing_bearer" }, nameOf(route));
    }
  });

  await step("no change is made for the cookie alone", async () => {
    for (const route of byCookie.filter(({ method }) => method !== "GET")) {
      const { status, code } = await knock(started, route, { cookie: who.operator.cookie });
      assertEquals({ status, code }, { status: 403, code: "csrf_refused" }, nameOf(route));
    }
  });

  await step("every route refuses whoever its row leaves out", async () => {
    for (const route of byCookie) {
      for (const person of people) {
        const code = refusal(route.access, person);
        if (code === undefined) continue;
        const answer = await knock(started, route, who[person].headers);
        assertEquals(answer, { status: 403, code, challenge: false }, `${nameOf(route)}: ${person}`);
      }
    }
  });

  await step("after 15 minutes what cannot be taken back asks for a new sign-in", async () => {
    const stale = await allOf(started);
    clock.turn(QUARTER_MS);
    const asking: string[] = [];
    for (const route of byCookie.filter(({ path }) => path !== "/api/me/confirm")) {
      const person = refusal(route.access, "admin") === undefined ? "admin" : "operator";
      const { code } = await knock(started, route, stale[person].headers);
      if (code === "sign_in_again") asking.push(nameOf(route));
    }
    assertEquals(asking.toSorted(), takesNewSignIn.toSorted());
  });

  await step("every route lets in whom its row names", async () => {
    const who = await allOf(started);
    // What all stands in comes last.
    const order = (path: string) => path.startsWith("/api/me/") ? 0 : 1 / path.length;
    const inOrder = [
      ...byCookie.filter((route) => route.method !== "DELETE"),
      ...byCookie.filter((route) => route.method === "DELETE").sort((a, b) => order(a.path) - order(b.path)),
    ];
    for (const route of inOrder) {
      for (const person of people) {
        if (refusal(route.access, person) !== undefined) continue;
        const { status, code = "" } = await knock(started, route, who[person].headers);
        const answered = [200, 201, 404, 409].includes(status) || [...WRONG, IN_MEMORY].includes(code);
        assert(answered, `${nameOf(route)}: ${person} ${status}`);
        if (route.method === "GET" && !route.path.includes("/approvals/:") && code !== IN_MEMORY) {
          assertEquals(status, 200, `${nameOf(route)}: ${person}`);
        }
      }
    }
  });
});

/** Everybody, signed in just now. */
async function allOf(started: StartedApp): Promise<Record<Person, TestPerson>> {
  return {
    viewer: await signIn(started, { role: "viewer" }),
    editor: await signIn(started, { role: "editor" }),
    admin: await signIn(started, { role: "admin" }),
    foreigner: await signIn(started, { role: "admin", namespace: "other" }),
    operator: await signIn(started, { role: "operator" }),
  };
}

/** The code of the refusal; undefined where the row lets the person in. */
function refusal(access: Access, person: Person): string | undefined {
  return refused[access]?.[person];
}
