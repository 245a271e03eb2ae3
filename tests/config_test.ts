import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { configTable, defaultBaseUrl, readConfig } from "../lib/config.ts";
import { ConfigError } from "../lib/core/errors.ts";

function refusal(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("expected a ConfigError");
}

Deno.test("readConfig() of an empty environment is the contract's defaults", () => {
  const config = readConfig({});
  assertEquals({ ...config }, {
    host: "127.0.0.1",
    port: 8000,
    baseUrl: null,
    dataDir: "./data",
    keyLookups: true,
    kvUrl: null,
    tenantsUrl: { kind: "file" },
    tenantsOpenMax: 190,
    gateEngine: "auto",
    captchaProvider: "altcha",
    captchaSiteKey: null,
    askUrl: null,
    askModel: null,
    askPerDay: 1000,
    askTimeoutMs: 20_000,
    smtpFrom: null,
    mailPerDay: 1000,
    welcomeCreditUsd: 5,
    engineMemoryMb: null,
    engineTempMb: 2048,
    floodPer10s: 2000,
    trustProxy: 0,
    mcpOrigins: null,
    webhooksPrivate: false,
    queryTimeoutMs: 30_000,
    maxResultBytes: 16_777_216,
    maxResultRows: 100_000,
    logDays: 30,
    logBytes: 67_108_864,
    snapshotDays: 7,
    archiveUrl: null,
    archiveDays: 30,
    archiveSpoolMb: 1024,
    archiveTakeOver: false,
    demo: true,
    engineEnvironment: {},
    hosted: false,
  });
});

Deno.test("readConfig() takes an empty value as unset", () => {
  assertEquals(readConfig({ PORT: "", KV_URL: "" }).port, 8000);
});

Deno.test("an IPv6 host stands in brackets in the base address, and a given one loses its last slash", () => {
  assertEquals(defaultBaseUrl("::1", 81), "http://[::1]:81");
  assertEquals(readConfig({ HOST: "[::1]" }).host, "::1");
  assertEquals(readConfig({ BASE_URL: "https://db.example.com/" }).baseUrl, "https://db.example.com");
});

const pem = (body: string) => `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n`;
/** As long as an Ed25519 key, and another algorithm's. */
const rsaLike = btoa("\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x6e\x04\x22\x04\x20" + "k".repeat(32));

Deno.test("readConfig() takes an Ed25519 key as it is exported, and each number up to its bound", async () => {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  if (!("privateKey" in pair)) throw new TypeError("expected a pair of keys");
  const key = pem(new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey)).toBase64());
  assertEquals(readConfig({ TENANTS_JWT_KEY: key }).tenantsJwtKey, key);
  for (const { variable, form, parse } of Object.values(configTable)) {
    const most = /^a whole number from \d+ to (\d+)$/.exec(form)?.[1];
    if (most !== undefined) assertEquals(parse(most), Number(most), variable);
  }
});

Deno.test("readConfig() repeats no character that a terminal would obey", () => {
  assertStringIncludes(
    refusal({ PORT: "\x7f\u202e\u009b31m\u2028" }),
    String.raw`it is "\u{7f}\u{202e}\u{9b}31m\u{2028}"`,
  );
});

Deno.test("readConfig() refuses each malformed value in one line that names the variable", () => {
  const wrong: Record<string, string[]> = {
    HOST: ["a b", "http://x", "[localhost]"],
    PORT: ["80a", "-1", "65536", "1e3", " 8000", "8000 "],
    BASE_URL: [
      "example.com",
      "ftp://x",
      "http://x?a=1",
      "http://x#f",
      " http://x",
      "http://x ",
      "http:x",
      "http://x/a b",
    ],
    DATA_DIR: ["a\nb", " ", "data ", "a,b"],
    KV_URL: ["kv", "http://kv\n"],
    TENANTS_TOKEN: ["a b", "tök"],
    TENANTS_URL: [
      "file",
      "sqld+http://a:1",
      "turso://Org/g",
      "turso://org",
      "turso://a/b?api=x",
      "postgres://x",
    ],
    OPERATOR_KEY: ["short", "has a space in the middle"],
    METRICS_TOKEN: ["a".repeat(31), `${"a".repeat(31)} b`],
    TENANTS_JWT_KEY: ["no pem", pem("AAAA"), pem("===="), pem(rsaLike)],
    TENANTS_OPEN_MAX: ["0", "many"],
    GATE_ENGINE: ["native"],
    CAPTCHA_PROVIDER: ["altch"],
    ASK_URL: ["localhost"],
    WELCOME_CREDIT_USD: ["-5", "five", "1e3", "5."],
    FLOOD_PER_10S: ["1.5", "x"],
    TRUST_PROXY: ["yes", "17"],
    QUERY_TIMEOUT_MS: ["0", "99"],
    MAX_RESULT_BYTES: ["1"],
    MAX_RESULT_ROWS: ["0"],
    LOG_DAYS: ["0"],
    SNAPSHOT_DAYS: ["x"],
    DEMO: ["true"],
  };
  for (const [variable, values] of Object.entries(wrong)) {
    for (const value of values) {
      const message = refusal({ [variable]: value });
      assertStringIncludes(message, `Set ${variable} to `);
      assertEquals(message.includes("\n"), false, variable);
    }
  }
});

Deno.test("readConfig() never repeats a secret or an address with a password", () => {
  for (
    const [variable, value] of [["OPERATOR_KEY", "hunter two"], ["KV_URL", "kv://user:hunter@host"]] as const
  ) {
    const message = refusal({ [variable]: value });
    assertEquals(message.includes("hunter"), false);
    assertStringIncludes(message, "its value is not shown");
  }
});

Deno.test("an archive in the folder that it archives is refused, however the two are written", () => {
  for (const folder of ["data", "./data/archive", `${Deno.cwd()}/data/kept`, "other/../data"]) {
    assertEquals(
      refusal({ ARCHIVE_URL: `file:${folder}` }),
      "Set ARCHIVE_URL to a folder outside of DATA_DIR, best on another disk; it is in it",
    );
  }
  assertEquals(readConfig({ ARCHIVE_URL: "file:data-archive" }).archiveUrl, {
    kind: "folder",
    folder: "data-archive",
  });
});

Deno.test("a dump of the configuration holds no secret", () => {
  const secrets = Object.values(configTable).filter((row) => row.secret).map((row) => row.variable);
  assertEquals(secrets, [
    ...["TENANTS_TOKEN", "TENANTS_JWT_KEY", "OPERATOR_KEY", "METRICS_TOKEN", "CAPTCHA_SECRET", "ASK_KEY"],
    "SMTP_URL",
    ...["ARCHIVE_ACCESS_KEY_ID", "ARCHIVE_SECRET_ACCESS_KEY"],
  ]);
  const config = readConfig({
    OPERATOR_KEY: "hunter2hunter2hunter2",
    ASK_KEY: "hunter2",
    CAPTCHA_SECRET: "hunter2",
    TENANTS_TOKEN: "hunter2",
    SMTP_URL: "smtps://hunter2:hunter2@mail.example",
    SMTP_FROM: "noreply@shop.example",
  });
  assertEquals(config.operatorKey, "hunter2hunter2hunter2");
  for (const dump of [JSON.stringify(config), Deno.inspect(config), JSON.stringify({ ...config })]) {
    assertEquals(dump.includes("hunter2"), false);
  }
});

Deno.test("readConfig() takes sqld, and Turso where its platform token is given", () => {
  const sqld = readConfig({ TENANTS_URL: "sqld+http://127.0.0.1:8080?admin=http://127.0.0.1:8081" });
  assertEquals(sqld.tenantsUrl.kind, "sqld");
  const turso = { TENANTS_URL: "turso://acme/default" };
  assertStringIncludes(refusal(turso), "Set TENANTS_TOKEN to ");
  assertEquals(readConfig({ ...turso, TENANTS_TOKEN: "t" }).tenantsUrl, {
    ...{ kind: "turso", organization: "acme", group: "default", apiUrl: null },
  });
  const elsewhere = { TENANTS_URL: "turso://acme/default?api=http://127.0.0.1:81/", TENANTS_TOKEN: "t" };
  assertEquals(readConfig(elsewhere).tenantsUrl, {
    ...{ kind: "turso", organization: "acme", group: "default", apiUrl: "http://127.0.0.1:81" },
  });
});

Deno.test("readConfig() wants the token that Deno sends to a KV server", () => {
  assertStringIncludes(refusal({ KV_URL: "http://kv:4512" }), "Set DENO_KV_ACCESS_TOKEN");
  const config = readConfig({ KV_URL: "http://kv:4512", DENO_KV_ACCESS_TOKEN: "hunter2hunter2" });
  assertEquals(config.kvUrl, "http://kv:4512");
  assertEquals(Deno.inspect(config).includes("hunter2"), false);
});

Deno.test("readConfig() on Deno Deploy wants what a disk, a terminal or an own port would tell elsewhere", () => {
  const hosted = { DENO_DEPLOYMENT_ID: "d1" };
  assertStringIncludes(refusal(hosted), "Set TENANTS_URL to ");
  const remote = { ...hosted, TENANTS_URL: "sqld+https://sqld.example.com?admin=https://admin.example.com" };
  assertStringIncludes(refusal(remote), "Set OPERATOR_KEY");
  const keyed = { ...remote, OPERATOR_KEY: "0123456789abcdef" };
  assertStringIncludes(refusal(keyed), "Set BASE_URL");
  assertEquals(readConfig({ ...keyed, BASE_URL: "https://db.example.com" }).hosted, true);
});

Deno.test("readConfig() wants both keys of a foreign captcha provider", () => {
  assertStringIncludes(refusal({ CAPTCHA_PROVIDER: "turnstile", CAPTCHA_SITE_KEY: "k" }), "CAPTCHA_SECRET");
  const config = readConfig({ CAPTCHA_PROVIDER: "hcaptcha", CAPTCHA_SITE_KEY: "k", CAPTCHA_SECRET: "s" });
  assertEquals(config.captchaProvider, "hcaptcha");
});

Deno.test("every variable has a form and a meaning, and its default has the form", () => {
  for (const row of Object.values(configTable)) {
    assert(row.form !== "" && row.meaning !== "", row.variable);
    if (row.default !== null) assert(row.parse(row.default) !== undefined, row.variable);
  }
});

Deno.test("only what Deno needs to start a child is taken over from the environment", () => {
  const config = readConfig({
    HOME: "/home/a",
    DENO_DIR: "/cache",
    AWS_SECRET_ACCESS_KEY: "s",
    PATH: "/bin",
  });
  assertEquals(config.engineEnvironment, { HOME: "/home/a", DENO_DIR: "/cache" });
});
