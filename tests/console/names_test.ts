// Names that people and tokens have given themselves, on every page that shows them: no control character among them.
import { assert, assertEquals } from "@std/assert";
import { startApp } from "../testing/start_app.ts";
import { signIn } from "../testing/person.ts";
import { openPage, sendForm } from "./open_page.ts";

const NAME = "admin\u202Egnp.txt\u2066 <b>";
const SHOWN = "admin⟨U+202E⟩gnp.txt⟨U+2066⟩ &lt;b&gt;";

Deno.test("names with characters that turn the text around are written out wherever they are shown", async () => {
  await using app = await startApp();
  const { slug, token } = await app.namespace("acme");
  const api = `/api/namespaces/${slug}`;
  const admin = await signIn(app, { role: "admin" });
  const operator = await signIn(app, { role: "operator" });
  const send = async (method: string, path: string, body: unknown, as: object = { token }) => {
    const { status, text } = await app.request(method, path, { ...as, body });
    assert(status === 200 || status === 201, text);
  };
  await send("POST", `${api}/tokens`, { name: NAME, role: "read" });
  await send("PATCH", `${api}/databases/main`, { name: NAME });
  await send("PATCH", api, { name: NAME });
  await send("PATCH", `${api}/members/${admin.id}`, { name: NAME }, { headers: operator.headers });
  const pages = [
    ["/console/acme/tokens", admin],
    ["/console/acme/members", admin],
    ["/console/acme/audit", admin],
    ["/console/acme", admin],
    ["/console/acme/settings", await signIn(app, { role: "viewer", email: "lars@example.com" })],
    ["/console/-/namespaces", operator],
  ] as const;
  for (const [path, person] of pages) {
    const { status, text } = await openPage(app, path, person);
    assertEquals(status, 200, path);
    assert(text.includes(SHOWN), path);
    assert(!/[\u202E\u2066]/.test(text.replaceAll(/value="[^"]*"/g, "")), path);
  }
  const made = await sendForm(app, {
    path: "/console/acme/tokens",
    fields: { name: NAME, role: "read" },
    person: admin,
  });
  assert(made.text.includes(`${SHOWN} is made`), made.text.slice(0, 300));
});

Deno.test("joiners of emoji and of correct writing stay, and those that nobody would see are written out", async () => {
  await using app = await startApp();
  const { slug, token } = await app.namespace("acme");
  const admin = await signIn(app, { role: "admin" });
  const names = {
    "\u{1F469}\u{1F3FD}\u200D\u{1F680} and \u{1F3F3}\uFE0F\u200D\u{1F308}": null,
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}": null,
    // Persian "mi-ravam" and "books", with and without a vowel sign; Urdu; Devanagari; Malayalam as it was written before 2008.
    "\u0645\u06CC\u200C\u0631\u0648\u0645": null,
    "\u06A9\u062A\u0627\u0628\u200C\u0647\u0627": null,
    "\u06A9\u062A\u0627\u0628\u064E\u200C\u0647\u0627": null,
    "\u0915\u094D\u200D\u0937 \u0915\u094D\u200C\u0937": null,
    "\u0D05\u0D35\u0D28\u0D4D\u200D": null,
    // Behind a letter that joins nothing, at the end, before other writing, twice, and the other joiner: nobody would see it.
    "\u062F\u0627\u200C\u0631": "\u062F\u0627⟨U+200C⟩\u0631",
    "\u0645\u06CC\u200C": "\u0645\u06CC⟨U+200C⟩",
    "\u0645\u06CC\u200Ca": "\u0645\u06CC⟨U+200C⟩a",
    "\u0645\u06CC\u200C\u200C\u0631": "\u0645\u06CC⟨U+200C⟩⟨U+200C⟩\u0631",
    "\u0645\u06CC\u200D\u0631": "\u0645\u06CC⟨U+200D⟩\u0631",
    "\u0915\u200D\u0937": "\u0915⟨U+200D⟩\u0937",
    "ad\u200Cmin": "ad⟨U+200C⟩min",
    "\u0645\u06CC\u202E\u0631": "\u0645\u06CC⟨U+202E⟩\u0631",
    "ad\u200Dmin": "ad⟨U+200D⟩min",
    "\u{1F34E}\u200D\u{1F34E}": "\u{1F34E}⟨U+200D⟩\u{1F34E}",
  };
  for (const [name, shown] of Object.entries(names)) {
    const body = { name, role: "read" };
    const { status, text } = await app.request("POST", `/api/namespaces/${slug}/tokens`, { token, body });
    assertEquals(status, 201, text);
    const page = await openPage(app, "/console/acme/tokens", admin);
    assert(page.text.includes(`>${shown ?? name}<`), name);
  }
});
