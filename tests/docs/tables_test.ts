// Holds README and the documentation to the code: their tables are the code's tables, and what they name exists.
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { configTable } from "../../lib/config.ts";
import { MAX_PASSKEYS } from "../../lib/control/passkeys.ts";
import * as limits from "../../lib/core/limits.ts";
import { oauthLimits } from "../../lib/core/oauth_limits.ts";
import { type ErrorRow, errorTable } from "../../lib/core/error_table.ts";
import { priceNanoUsd } from "../../lib/query/prices.ts";
import { outputs } from "../../lib/services/endpoints/spec/outputs.ts";
import { toolTable } from "../../routes/mcp/tools/tool_table.ts";
import { securityTable } from "../../routes/security_table.ts";
import { layers, rooms } from "../architecture/layers.ts";
import { repository } from "../architecture/source_files.ts";
import { apiTables, docFile, docFiles, prose, tableUnder } from "./doc_files.ts";

const files = await docFiles();

/** What readers see as code, outside of blocks. */
const codes = files.flatMap((file) =>
  [...prose(file).matchAll(/`([^`\n]+)`/g)].map(([, code]) => code ?? "")
);

Deno.test("the table of settings is the code's", async () => {
  const expected = Object.values(configTable).map((row) => [
    `\`${row.variable}\``,
    row.default === null ? "unset" : `\`${row.default}\``,
    row.secret ? `${row.form} (secret)` : row.form,
    row.meaning,
  ]);
  assertEquals(tableUnder(await docFile("routes/docs/configuration.md"), "## Variables"), expected);
});

Deno.test("the table of prices is the code's", async () => {
  const usdPerMillion = (nanoUsd: number) => nanoUsd / 1000;
  const table = tableUnder(await docFile("routes/docs/money.md"), "## Prices");
  const { request, rowRead, rowWritten } = priceNanoUsd;
  assertEquals(table.map(([what, usd]) => [what, Number(usd)]), [
    ["requests", usdPerMillion(request)],
    ["rows read", usdPerMillion(rowRead)],
    ["rows written", usdPerMillion(rowWritten)],
  ]);
});

Deno.test("the kinds of output that are documented are the code's", async () => {
  const { text } = await docFile("routes/docs/endpoints.md");
  const row = text.split("\n").find((line) => line.startsWith("| `output`")) ?? "";
  const named = [...row.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name).slice(1);
  assertEquals(named.toSorted(), Object.keys(outputs).toSorted());
});

Deno.test("the table of error codes is the code's", async () => {
  const expected = Object.entries<ErrorRow>(errorTable).map(([code, row]) => [
    `\`${code}\``,
    String(row.status),
    row.message,
    row.retryable ? "yes" : "no",
    "retryAfterSec" in row ? `${row.retryAfterSec} s` : "",
  ]);
  assertEquals(tableUnder(await docFile("routes/docs/errors.md"), "## Error codes"), expected);
});

Deno.test("the README is a front page: its layers are those that the architecture test holds", async () => {
  const readme = await docFile("README.md");
  assert(readme.text.trimEnd().split("\n").length <= 200);
  const places = tableUnder(readme, "## Layers").map(([, place]) =>
    [...(place ?? "").matchAll(/`([^`]+)`/g)].map(([, code]) => code)
  );
  assertEquals(places, layers.filter((row) => !row.includes("tests/")).map((row) => [...row]));
});

Deno.test("the folders of lib/sql and of the stores are those that the architecture test holds, lowest first", async () => {
  const page = await docFile("routes/docs/how-it-works.md");
  const under = (heading: string) =>
    tableUnder(page, heading).flatMap(([places]) =>
      [...(places ?? "").matchAll(/`([^`]+)`/g)].map(([, code]) => code)
    );
  assertEquals(under("## What a text says"), [...rooms["lib/sql/"] ?? []]);
  assertEquals(under("## Inside the store"), [...rooms["lib/tenant/local/"] ?? []]);
  assertEquals(under("### A database elsewhere"), [...rooms["lib/tenant/remote/"] ?? []]);
});

Deno.test("the limits that are documented are the code's", async () => {
  const page = await docFile("routes/docs/limits.md");
  const { headMs, idleMs, takenBytesPerSec, maxConnections } = limits.connectionLimits;
  const grouped = (value: number) => value.toLocaleString("en-US");
  const mib = (bytes: number) => `${bytes / 1024 / 1024} MiB`;
  const expected: Readonly<Record<string, string>> = {
    "a body under `/v1` and `/api`": mib(limits.MAX_BODY_BYTES),
    "a body under `/p`": mib(limits.MAX_PUBLISHED_BODY_BYTES),
    "a body to arrive whole": `${
      limits.BODY_TIMEOUT_MS / 1000
    } s; under \`/p\` [two minutes](#connections) for one that keeps coming`,
    "statements of a batch": String(limits.MAX_BATCH_STATEMENTS),
    "characters of a statement": grouped(limits.MAX_SQL_LENGTH),
    "values of a statement": grouped(limits.MAX_PARAMETERS),
    "one value or row": `${grouped(limits.MAX_VALUE_BYTES)} bytes; in remote stores 5 MB`,
  };
  const rows = new Map(tableUnder(page, "## Requests and results").map(([what, bound]) => [what, bound]));
  for (const [what, bound] of Object.entries(expected)) assertEquals([what, rows.get(what)], [what, bound]);
  const lifetimes = new Map(tableUnder(page, "## Lifetimes").map(([what, long]) => [what, long]));
  assertEquals(lifetimes.get("a stored answer of a keyed call"), `${limits.REPLAY_MS / 3_600_000} hours`);
  assertEquals(lifetimes.get("a deleted database"), `${limits.DELETED_KEEP_MS / 86_400_000} days`);
  const short = (value: number) => value.toLocaleString("en-US", { useGrouping: "min2" });
  const chosen = ({ least, most }: { readonly least: number; readonly most: number }) =>
    `${short(least)} to ${short(most)} s`;
  const { branch, execution, handoff, token } = limits.chosenSec;
  for (
    const [what, long] of [
      ["an execution token of `propose`", `${chosen(execution)}; ${execution.usual} unless given`],
      ["a handoff token", chosen(handoff)],
      ["a branch", `${chosen(branch)}; ${branch.usual} unless given`],
      ["an API token", `${chosen(token)}; no end unless given`],
    ] as const
  ) assertEquals([what, lifetimes.get(what)], [what, long]);
  const { codeMs, accessMs, refreshMs, repeatMs, unusedClientMs, clientMs, ...oauth } = oauthLimits;
  const days = (ms: number) => ms / 86_400_000;
  assertEquals(rows.get("a body under `/oauth`"), `${oauth.bodyBytes / 1024} KiB`);
  assertEquals(lifetimes.get("a code of OAuth"), `${codeMs / 60_000} minutes, once`);
  assertEquals(lifetimes.get("an access token of OAuth"), `${accessMs / 3_600_000} hour`);
  assertEquals(
    lifetimes.get("a refresh token of OAuth"),
    `${days(refreshMs)} days, once; the same answer for ${repeatMs / 1000} s`,
  );
  assertEquals(
    lifetimes.get("a registration of an OAuth client"),
    `${days(unusedClientMs)} day, and ${days(clientMs)} days from its last use`,
  );
  const text = page.text.replace(/\s+/g, " ");
  for (
    const said of [
      `At most ${maxConnections} connections are open.`,
      `has not arrived whole within ${headMs / 1000} s, or the next head within ${
        idleMs / 1000
      } s after an answer.`,
      `may be taken at ${takenBytesPerSec / 1024} KB a second.`,
      `registers at most ${oauth.registrationsOfAddress} OAuth clients in an hour, and all of them together ${oauth.registrations};`,
      `each has at most ${oauth.redirectUris} redirect URIs of ${oauth.redirectUriLength} characters.`,
      `At most ${oauth.documentsAtOnce} documents of clients are read at once.`,
      `At most ${limits.MAX_OPEN_APPROVALS} approvals of a database wait, ${limits.MAX_OPEN_APPROVALS_OF_TOKEN} of them for one API token`,
      `A namespace has at most ${limits.MAX_MEMBERS} members`,
      `a member at most ${MAX_PASSKEYS} passkeys and`,
      `${limits.MAX_SESSIONS} sessions (a further sign-in ends the oldest)`,
      `Of an endpoint the newest ${limits.MAX_REVISIONS.toLocaleString("en")} revisions are kept`,
      `of long ones fewer: some ${limits.MAX_REVISION_CHARACTERS.toLocaleString("en")} characters`,
      `have at most ${limits.MAX_ENDPOINT_CHARACTERS.toLocaleString("en")} characters together`,
      `At most ${limits.MAX_BRANCHES} branches of a database live, and it has at most ${limits.MAX_RULES} rules.`,
      `an email address ${limits.MAX_EMAIL_LENGTH}, a URL ${limits.MAX_URL_LENGTH}, a question to \`ask\` ${limits.MAX_QUESTION_LENGTH}.`,
    ]
  ) assert(text.includes(said), said);
});

Deno.test("the tables of the HTTP API are the routes, each once", async () => {
  const page = await docFile("routes/docs/http-api.md");
  const documented = Object.entries(apiTables).flatMap(([heading, prefix]) =>
    tableUnder(page, heading).flatMap(([calls = ""]) =>
      [...calls.matchAll(/`(?:([A-Z]+) )?(\/[^`]*)`/g)].map(([, method = "ALL", path = ""]) =>
        `${method} ${path === "/" && prefix !== "" ? prefix : prefix + path}`
      )
    )
  );
  // What pages load is no call of anybody.
  const calls = securityTable.filter(({ path }) => !path.startsWith("/docs/assets/"));
  assertEquals(documented.toSorted(), calls.map(({ method, path }) => `${method} ${path}`).toSorted());
});

Deno.test("the table of tools is the code's", async () => {
  const documented = tableUnder(await docFile("routes/docs/mcp.md"), "## Tools");
  const tools = [...toolTable.values()].map(({ name, role, input }) => [
    `\`${name}\``,
    Object.entries(input.shape).map(([argument, schema]) =>
      `\`${argument}${z.safeParse(schema, undefined).success ? "?" : ""}\``
    ).join(", "),
    `\`${role}\``,
  ]);
  assertEquals(documented, tools);
});

Deno.test("the glossary is short and in order", async () => {
  const words = tableUnder(await docFile("routes/docs/glossary.md"), "# Glossary").map(([word = ""]) => word);
  assert(words.length <= 40, `${words.length} words`);
  assertEquals(words, words.toSorted());
});

Deno.test("every task that is named exists", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", repository)));
  const named = files.flatMap(({ text }) =>
    [...text.matchAll(/\bdeno(?:@[\d.]+)? task ([a-z_:-]+)/g)].map(([, name]) => name ?? "")
  );
  assert(named.includes("start") && named.includes("test"));
  assertEquals(named.filter((name) => !(name in tasks)), []);
});

Deno.test("every file and folder that is named exists", async () => {
  const paths = codes.filter((code) => /^(lib|routes|tests|\.deploy|\.ci)\/[\w./-]*$/.test(code));
  assert(paths.length > 0);
  const missing: string[] = [];
  for (const path of new Set(paths)) {
    const found = await Deno.stat(new URL(path, repository)).then(() => true, () => false);
    if (!found) missing.push(path);
  }
  assertEquals(missing, []);
});

Deno.test("every test that the tables of published failures and of attacks name exists", async () => {
  const security = await docFile("routes/docs/security.md");
  const tables = {
    "## Published failures": 27,
    "## Attacks on people": 20,
    "## Attacks on OAuth": 21,
    "## Attacks on published endpoints": 60,
  };
  for (const [heading, length] of Object.entries(tables)) {
    const rows = tableUnder(security, heading);
    assertEquals(rows.length, length);
    for (const [, here = ""] of rows) {
      const [, path, name] = /^`(tests\/\S+_test\.ts)`: (.+)$/.exec(here) ?? [];
      assert(path !== undefined && name !== undefined, here);
      const text = await Deno.readTextFile(new URL(path, repository));
      const quoted = JSON.stringify(name);
      const forms = [
        `Deno.test(${quoted}, `,
        `\ntest(${quoted}, `,
        `\ntestOneProcess(${quoted}, `,
        `testCases(${quoted}, `,
        `\n  ${quoted}: async (`,
        `step(${quoted}, async (`,
      ];
      const made = forms.some((form) => text.includes(form));
      assert(made, `${path} has no test "${name}"`);
    }
  }
});

Deno.test("every test and check that the assumptions about Turso name exists", async () => {
  const rows = tableUnder(
    await docFile("routes/docs/deno-deploy.md"),
    "## Assumptions about Turso's platform API",
  );
  assert(rows.length > 0);
  for (const named of rows.flatMap(([, , noticed = ""]) => noticed.split("; "))) {
    const [, path, name] = /^`(tests\/\S+\.ts)`: (.+)$/.exec(named) ?? [];
    assert(path !== undefined && name !== undefined, named);
    const text = await Deno.readTextFile(new URL(path, repository));
    assert(text.includes(JSON.stringify(name)), `${path} has no "${name}"`);
  }
});

Deno.test("no page names a path of a machine", () => {
  const roots = "home|root|Users|work|tmp|mnt|opt|usr|var|srv|etc|proc";
  // Where the unit for systemd has its folders, its settings and its programs.
  const unit = "opt/cubby|etc/cubby\\.env|etc/systemd/|usr/local/bin/deno|usr/sbin/nologin|var/cache/cubby";
  const pattern = new RegExp(`(?<![\\w.:/-])(?:/(?!${unit})(?:${roots})/|[A-Z]:\\\\)\\S*`, "g");
  assertEquals(files.flatMap(({ text }) => text.match(pattern) ?? []), []);
});

Deno.test("every column of a table has a head, which is what a screen reader says before a cell", () => {
  const headless = files.flatMap(({ path, text }) =>
    [...text.matchAll(/^(\|.*\|)\n\| ?:?-/gm)].flatMap(([, head = ""]) =>
      head.slice(1, -1).split("|").some((cell) => cell.trim() === "") ? [`${path}: ${head}`] : []
    )
  );
  assertEquals(headless, []);
});

Deno.test("each difference of the door for libSQL from sqld has a test of its name", async () => {
  const rows = tableUnder(await docFile("routes/docs/libsql.md"), "## What differs");
  assert(rows.length > 10);
  const text = await Deno.readTextFile(new URL("tests/hrana/differences_test.ts", repository));
  for (const [subject = ""] of rows) {
    const quoted = JSON.stringify(subject);
    const forms = [`\n  ${quoted}: {`, `t.step(${quoted}, `, `Deno.test(${quoted}, `];
    assert(forms.some((form) => text.includes(form)), subject);
  }
});
