// Where a part of the service is not there for a moment a page says so, and what was typed can be sent once it is back.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { oneStore } from "../testing/cases.ts";
import { startApp } from "../testing/start_app.ts";
import type { ApiAnswer } from "../testing/call_api.ts";
import { consoleWorld, mainOf, plain } from "./console_world.ts";
import { openPage, sendForm } from "./open_page.ts";

const { run, test } = oneStore();
Deno.test("failures that pass", run);

const RULE = { tableGlob: "orders", actions: "delete", effect: "deny", note: `Ask "the" <accountant>` };

/** What the form of a page sends: its address, and its hidden fields. */
function formOf({ text }: ApiAnswer): { path: string; fields: Record<string, string> } {
  const [, path = "", inside = ""] =
    /<form action="([^"]+)" method="post"[^>]*>(.*?)<\/form>/s.exec(mainOf(text)) ?? [];
  const inputs = inside.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  const fields = Object.fromEntries(
    Array.from(inputs, ([, name = "", value = ""]) => [name, unescaped(value)]),
  );
  return { path, fields };
}

function unescaped(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll(
    "&amp;",
    "&",
  );
}

test("a form that is sent while the control plane does not answer is kept, and sent once by a click", async () => {
  await using app = await startApp();
  const { admin, path, look } = await consoleWorld(app, { slug: "acme", page: "rules" });
  const { kv } = app.deps;
  const get = kv.get.bind(kv);
  kv.get = () => Promise.reject(new TypeError("connection refused"));
  const failed = await sendForm(app, { path, fields: RULE, person: admin });
  assertEquals([failed.status, failed.headers.get("retry-after")], [429, "2"], failed.text);
  assertStringIncludes(plain(failed.text), "Not available at the moment");
  const { path: to, fields } = formOf(failed);
  assertEquals([to, fields], [path, { csrf: admin.csrfToken, ...RULE }]);
  const still = await sendForm(app, { path: to, fields, person: admin });
  assertEquals([still.status, formOf(still)], [429, { path, fields }]);
  // Of a form of another site nothing is kept.
  const headers = { origin: "https://other.example" };
  const foreign = await sendForm(app, { path, fields: RULE, person: admin, headers });
  assertEquals([foreign.status, formOf(foreign).path], [403, ""]);
  kv.get = get;
  const sent = await sendForm(app, { path: to, fields, person: admin });
  assertEquals(sent.status, 303, sent.text);
  assertEquals((await look(path)).split("accountant").length - 1, 1);
});

test("a page that is asked for while the control plane does not answer leads back to itself", async () => {
  await using app = await startApp();
  const { admin, path } = await consoleWorld(app, { slug: "acme", page: "rules" });
  const { kv } = app.deps;
  const get = kv.get.bind(kv);
  kv.get = () => Promise.reject(new TypeError("connection refused"));
  const failed = await openPage(app, `${path}?q=1`, admin);
  assertEquals([failed.status, failed.headers.get("content-type")], [429, "text/html; charset=UTF-8"]);
  assertStringIncludes(failed.text, `href="${path}?q=1"`);
  kv.get = get;
  const known = await openPage(app, path, admin);
  assertEquals(known.status, 200);
  // Who is known already: the page asks nothing more of what does not answer.
  kv.get = () => Promise.reject(new TypeError("connection refused"));
  kv.list = () => {
    throw new TypeError("connection refused");
  };
  const again = await openPage(app, path, admin);
  assertEquals(again.status, 429);
  assertStringIncludes(plain(again.text), "Not available at the moment");
});

test("a form that finds no room on the disk is kept; one with a password is filled in again", async () => {
  await using app = await startApp();
  const { admin, path } = await consoleWorld(app, { slug: "acme", page: "rules" });
  const { rules } = app.deps.control;
  const { add } = rules;
  rules.add = () => Promise.reject(new AppError("storage_full"));
  const failed = await sendForm(app, { path, fields: RULE, person: admin });
  assertEquals([failed.status, failed.headers.get("retry-after")], [503, "30"], failed.text);
  rules.add = add;
  const { consoleSessions } = app.deps.control;
  const { add: addSession } = consoleSessions;
  consoleSessions.add = () => Promise.reject(new AppError("storage_full"));
  const signIn = "/console/-/sign-in";
  const refused = await sendForm(app, {
    path: `${signIn}/key`,
    fields: { operatorKey: app.operatorKey },
    person: null,
  });
  const behind = { to: path, typed: new URLSearchParams(RULE).toString() };
  const waits = await sendForm(app, {
    path: `${signIn}/key`,
    fields: { operatorKey: app.operatorKey, ...behind },
    person: null,
  });
  consoleSessions.add = addSession;
  // What waited behind the sign-in waits still.
  const { path: waiting, fields: { csrf = "", ...kept } } = formOf(waits);
  assertEquals([waits.status, waiting, kept, csrf], [503, path, RULE, ""], waits.text);
  assertEquals([refused.status, formOf(refused).path], [503, ""], refused.text);
  assert(!refused.text.includes(app.operatorKey));
  assertStringIncludes(refused.text, `href="${signIn}"`);
  const sent = await sendForm(app, { ...formOf(failed), person: admin });
  assertEquals(sent.status, 303, sent.text);
});
