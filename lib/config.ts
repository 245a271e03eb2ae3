// Every setting of the service in one table: name, default, form, meaning. Read once, at the start, and nowhere else.
import { archiveRows, checkArchive } from "./config_archive.ts";
import { ConfigError } from "./core/errors.ts";
import { forms } from "./config_forms.ts";
import { checkMail, mailRows } from "./config_mail.ts";
import { type ConfigRow, optional, row, secret } from "./config_row.ts";

const captchaProviders = ["altcha", "turnstile", "hcaptcha", "recaptcha"] as const;
const gateEngines = ["auto", "node", "wasm"] as const;

/** Property of `Config` → the variable behind it. The documentation's table is tested against this one. */
export const configTable = {
  host: row("HOST", "127.0.0.1", forms.host(), "Address to listen on"),
  port: row("PORT", "8000", forms.wholeNumber(0, 65_535), "Port to listen on; 0 picks a free one"),
  baseUrl: optional(
    "BASE_URL",
    forms.httpUrl(),
    "Prefix of every absolute URL that the service hands out; unset: `http://HOST:PORT`",
  ),
  dataDir: row(
    "DATA_DIR",
    "./data",
    forms.folder(),
    "Folder of the Deno KV file and the tenant database files",
  ),
  kvUrl: optional(
    "KV_URL",
    forms.httpUrl(),
    "KV Connect URL (self-hosted `denokv`); unset: a file in `DATA_DIR`",
  ),
  tenantsUrl: row(
    "TENANTS_URL",
    "file:",
    forms.tenantsUrl(),
    "Where tenant databases live; `file:` is a folder in `DATA_DIR`",
  ),
  tenantsToken: secret("TENANTS_TOKEN", forms.visible(1, 8192), "Secret for remote tenants"),
  tenantsJwtKey: secret("TENANTS_JWT_KEY", forms.privateKey(), "Key that signs data tokens for sqld"),
  tenantsOpenMax: row(
    "TENANTS_OPEN_MAX",
    "190",
    forms.wholeNumber(1, 1_000_000),
    "Databases, branches and snapshots that sqld can have open; `readyz` warns from four fifths on",
  ),
  gateEngine: row(
    "GATE_ENGINE",
    "auto",
    forms.oneOf(gateEngines),
    "SQLite that checks statements before they go to remote tenants; `auto`: the runtime's own where it can",
  ),
  operatorKey: secret(
    "OPERATOR_KEY",
    forms.visible(16, 200),
    "The operator's key; unset: made at the first start and printed once",
  ),
  metricsToken: secret("METRICS_TOKEN", forms.visible(32, 200), "Bearer of `/metrics`, and of nothing else"),
  captchaProvider: row(
    "CAPTCHA_PROVIDER",
    "altcha",
    forms.oneOf(captchaProviders),
    "Who checks captchas; `altcha` is embedded proof of work",
  ),
  captchaSiteKey: optional("CAPTCHA_SITE_KEY", forms.visible(1, 200), "Public key of the captcha provider"),
  captchaSecret: secret("CAPTCHA_SECRET", forms.visible(1, 200), "Secret key of the captcha provider"),
  askUrl: optional(
    "ASK_URL",
    forms.httpUrl(),
    "OpenAI-compatible server, the base to which `/chat/completions` is added; unset: the embedded translator",
  ),
  askTimeoutMs: row("ASK_TIMEOUT_MS", "20000", forms.wholeNumber(100, 300_000), "Milliseconds it may take"),
  askKey: secret("ASK_KEY", forms.visible(1, 500), "Bearer for `ASK_URL`"),
  askModel: optional("ASK_MODEL", forms.visible(1, 200), "Model to ask for"),
  askPerDay: row("ASK_PER_DAY", "1000", forms.wholeNumber(1, 1_000_000), "Times a UTC day for a namespace"),
  ...mailRows,
  welcomeCreditUsd: row("WELCOME_CREDIT_USD", "5", forms.money(), "Credit of a new namespace"),
  floodPer10s: row(
    "FLOOD_PER_10S",
    "2000",
    forms.wholeNumber(0, 1_000_000),
    "Requests of one address in 10 seconds before it gets 429; 0 turns flood control off",
  ),
  trustProxy: row(
    "TRUST_PROXY",
    "0",
    forms.wholeNumber(0, 16),
    "Proxies whose `X-Forwarded-For` is believed; 0: the socket's address counts",
  ),
  mcpOrigins: optional(
    "MCP_ORIGINS",
    forms.origins(),
    "Origins beside the service's own whose pages may call `/mcp`, with commas between; unset: none",
  ),
  webhooksPrivate: row(
    "WEBHOOKS_PRIVATE",
    "0",
    forms.flag(),
    "Whether webhooks may go to addresses inside of the operator's own network, and by http",
  ),
  queryTimeoutMs: row(
    "QUERY_TIMEOUT_MS",
    "30000",
    forms.wholeNumber(100, 600_000),
    "Milliseconds that one statement may run",
  ),
  engineMemoryMb: optional(
    "ENGINE_MEMORY_MB",
    forms.wholeNumber(512, 16_777_216),
    "MB that all engine processes may hold together; unset: 60 % of the machine's or the container's memory, at least 512",
  ),
  engineTempMb: row(
    "ENGINE_TEMP_MB",
    "2048",
    forms.wholeNumber(1, 999_999),
    "MB of temporary files that a read may write, to sort for example; at most a quarter of the free disk",
  ),
  maxResultBytes: row(
    "MAX_RESULT_BYTES",
    "16777216",
    forms.wholeNumber(1024, 134_217_728),
    "Bytes of one result",
  ),
  maxResultRows: row("MAX_RESULT_ROWS", "100000", forms.wholeNumber(1, 10_000_000), "Rows of one result"),
  logDays: row("LOG_DAYS", "30", forms.wholeNumber(1, 3650), "Days that query log, calls and audit are kept"),
  logBytes: row(
    "LOG_BYTES",
    "67108864",
    forms.wholeNumber(1_048_576, 1_099_511_627_776),
    "Bytes that query log and calls may have in one database, half of it each; the oldest go",
  ),
  keyLookups: row(
    "KEY_LOOKUPS",
    "1",
    forms.flag(),
    "Whether the service's own process answers look-ups by key and short lists; 0: only engine processes read `file:` tenants",
  ),
  snapshotDays: row("SNAPSHOT_DAYS", "7", forms.wholeNumber(1, 3650), "Days that snapshots are kept"),
  ...archiveRows,
  demo: row("DEMO", "1", forms.flag(), "Whether the first start makes the namespace `demo`"),
} as const;

type Values = { readonly [Key in keyof typeof configTable]: ValueOf<(typeof configTable)[Key]> };
type ValueOf<Row> = Row extends ConfigRow<infer Value> ? Value : never;

/** All settings, checked. */
export interface Config extends Values {
  /** What Deno itself needs of the environment to start a child process, and nothing else of it. */
  readonly engineEnvironment: Readonly<Record<string, string>>;
  /** On Deno Deploy: no disk, no other processes, the platform's own KV. */
  readonly hosted: boolean;
}

/** The settings of this process. */
export function configFromEnvironment(): Config {
  return readConfig(Deno.env.toObject());
}

/** Checks `env` against the table. An empty value counts as unset. Throws `ConfigError`. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const config: Record<string, unknown> = {};
  for (const [property, row] of Object.entries(configTable)) {
    Object.defineProperty(config, property, {
      value: read(row, env),
      enumerable: !row.secret,
      writable: true,
    });
  }
  config["engineEnvironment"] = engineEnvironment(env);
  config["hosted"] = Boolean(env["DENO_DEPLOYMENT_ID"]);
  const checked = asConfig(config);
  checkTogether(checked);
  if (checked.kvUrl !== null && !env["DENO_KV_ACCESS_TOKEN"]) {
    throw new ConfigError("Set DENO_KV_ACCESS_TOKEN to the token of the KV server; KV_URL needs it");
  }
  return Object.freeze(checked);
}

/** `http://HOST:PORT`, an IPv6 host in brackets. */
export function defaultBaseUrl(hostname: string, port: number): string {
  return `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

function read(row: ConfigRow<unknown>, env: Readonly<Record<string, string | undefined>>): unknown {
  const given = env[row.variable] || row.default;
  if (given === null) return null;
  const value = row.parse(given);
  if (value === undefined || value === null) {
    throw new ConfigError(`Set ${row.variable} to ${row.form}; ${currentValue(row, given)}`);
  }
  return value;
}

/** An address may carry a password before its `@`. */
function currentValue(row: ConfigRow<unknown>, given: string): string {
  if (row.secret || given.includes("@")) return "its value is not shown";
  const shown = JSON.stringify(given.length > 80 ? `${given.slice(0, 80)}…` : given);
  // What a terminal would obey or not show.
  return `it is ${
    shown.replace(/[\p{C}\u2028\u2029]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`)
  }`;
}

function checkTogether(config: Config): void {
  checkArchive(config);
  checkMail(config);
  if (config.tenantsUrl.kind === "turso" && config.tenantsToken === null) {
    throw new ConfigError("Set TENANTS_TOKEN to a platform token of Turso; TENANTS_URL turso://… needs it");
  }
  if (config.hosted && config.tenantsUrl.kind === "file") {
    throw new ConfigError(
      "Set TENANTS_URL to turso://… or sqld+http://…; this platform has no disk for file:",
    );
  }
  if (config.hosted && (config.operatorKey === null || config.baseUrl === null)) {
    throw new ConfigError(
      `Set ${
        config.operatorKey === null ? "OPERATOR_KEY" : "BASE_URL"
      }; on this platform neither can be found out`,
    );
  }
  if (config.captchaProvider === "altcha") return;
  for (const key of ["captchaSiteKey", "captchaSecret"] as const) {
    if (config[key] === null) {
      throw new ConfigError(
        `Set ${configTable[key].variable}; CAPTCHA_PROVIDER ${config.captchaProvider} needs it`,
      );
    }
  }
}

function engineEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const wanted: Record<string, string> = {};
  for (const name of ["HOME", "DENO_DIR", "XDG_CACHE_HOME"]) {
    const value = env[name];
    if (value) wanted[name] = value;
  }
  return wanted;
}

/** Guarantee: `readConfig` has filled every property of the table from the table's own parsers. */
function asConfig(record: Record<string, unknown>): Config {
  return record as Record<string, unknown> & Config;
}
