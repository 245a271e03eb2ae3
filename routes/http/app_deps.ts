// What the process gives to the HTTP surface.
import { PasswordHasher } from "../../lib/access/password_hash.ts";
import { readmitCaller } from "../../lib/access/readmit_caller.ts";
import type { Config } from "../../lib/config.ts";
import { Approvals } from "../../lib/control/approvals.ts";
import { Ledger } from "../../lib/control/balance/ledger.ts";
import { Meter } from "../../lib/control/balance/meter.ts";
import { ControlPlane } from "../../lib/control/control_plane.ts";
import { HeldCalls } from "../../lib/control/held_calls.ts";
import { KeyedHashes } from "../../lib/control/keyed_hashes.ts";
import { LoginFailures } from "../../lib/control/login_failures.ts";
import { LoginGuesses } from "../../lib/control/login_guesses.ts";
import { RateCounters } from "../../lib/control/rate_counters.ts";
import { Replays } from "../../lib/control/replays.ts";
import type { Clock } from "../../lib/core/clock.ts";
import type { Log } from "../../lib/core/log.ts";
import { sendOnce } from "../../lib/core/send_once.ts";
import type { BodyWatch } from "../../lib/guard/body_watch.ts";
import type { Captcha } from "../../lib/guard/captcha.ts";
import { captchaAltcha } from "../../lib/guard/captcha_altcha.ts";
import { captchaSiteverify } from "../../lib/guard/captcha_siteverify.ts";
import { FactsCache } from "../../lib/query/facts_cache.ts";
import { toNanoUsd } from "../../lib/query/prices.ts";
import type { QueryContext } from "../../lib/query/query_call.ts";
import { StatementCounts } from "../../lib/query/statement_counts.ts";
import { MailJobs } from "../../lib/control/mail_jobs.ts";
import { BoundedModel } from "../../lib/services/ask/model/bounded_model.ts";
import { chooseModel } from "../../lib/services/ask/choose_model.ts";
import { RequestCounts } from "../../lib/services/metrics/request_counts.ts";
import { MailQueue } from "../../lib/services/mail/mail_queue.ts";
import { SmtpMailer } from "../../lib/services/mail/smtp_mailer.ts";
import { ClientDocuments, type ReadDocument } from "../../lib/services/oauth/client_documents.ts";
import type { OauthContext } from "../../lib/services/oauth/oauth_context.ts";
import { beginTransaction, resumeTransaction } from "../../lib/query/transaction/begin_transaction.ts";
import type { BeginTransaction } from "../../lib/query/transaction/interactive_transaction.ts";
import { KeptStreams } from "../../lib/services/hrana/kept_streams.ts";
import { OpenSockets } from "../../lib/services/hrana/open_sockets.ts";
import type { PeopleContext } from "../../lib/services/people/people_context.ts";
import { writeMail } from "../../lib/services/published/account_mail.ts";
import { FoldedRefusals } from "../../lib/services/published/folded_refusals.ts";
import { postPublic } from "../../lib/guard/post_public.ts";
import type { WebhookContext } from "../../lib/services/webhooks/webhook_context.ts";
import { WebhookDeliverer } from "../../lib/services/webhooks/webhook_deliverer.ts";
import { ChangeFeeds } from "../../lib/services/changes/change_feeds.ts";
import type { PublishedContext } from "../../lib/services/published/published_context.ts";
import { ProbeMemory } from "../../lib/services/schema/doctor/row_probes.ts";
import { KeptExports } from "../../lib/services/transfer/kept_exports.ts";
import { RankingCache } from "../../lib/services/schema/search_schema.ts";
import type { TenantStore } from "../../lib/tenant/tenant_store.ts";

/** Opened outside: by `main.ts`, or by a test. */
export interface ProcessParts {
  readonly config: Config;
  /** Prefix of absolute URLs, without a slash at the end. */
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly kv: Deno.Kv;
  /** The file of KV, where it is a file. */
  readonly kvFile?: string;
  readonly tenants: TenantStore;
  readonly backups?: { readonly isLate: boolean };
  readonly bodyWatch: BodyWatch;
  readonly facts?: FactsCache;
  /** SHA-256 of the operator key, hex. */
  readonly operatorKeyHash: string;
  /** Calls other servers (captcha providers, models); absent: the runtime's own `fetch`. */
  readonly fetch?: typeof fetch;
  /** Iterations of a password's hash; absent: as many as the hasher has. */
  readonly passwordIterations?: number;
  /** Sends messages to webhooks; absent: to public servers. */
  readonly post?: typeof postPublic;
  /** Reads documents of OAuth clients; absent: from public servers. */
  readonly readDocument?: ReadDocument;
}

/** All that routes need. */
export interface AppDeps extends ProcessParts {
  readonly control: ControlPlane;
  readonly requests: RequestCounts;
  readonly ledger: Ledger;
  /** Credit of a new namespace. */
  readonly welcomeCreditNanoUsd: number;
  /** The owner of the process calls `query.meter.tick()` every second and `query.meter.close()` at the end. */
  readonly query: QueryContext;
  readonly published: PublishedContext;
  readonly people: PeopleContext;
  /** For clients of libSQL. */
  readonly hrana: HranaDeps;
  /** What is remembered of schemas between two looks, whoever looks. */
  readonly schemas: { readonly rankings: RankingCache; readonly probes: ProbeMemory };
  readonly oauth: OauthContext;
  /** The owner of the process calls `stop()` before it waits for its requests to end. */
  readonly changes: ChangeFeeds;
  readonly webhooks: WebhookDeps;
  /** Null where this process can start no child. */
  readonly exports: KeptExports | null;
}

/** How webhooks are sent; the owner of the process calls `deliverer.start()` and, at the end, `stop()`. */
export interface WebhookDeps {
  readonly sending: WebhookContext;
  readonly deliverer: WebhookDeliverer;
}

/** Streams that are kept between requests, open sockets, and how a transaction over several requests begins. */
export interface HranaDeps {
  readonly kept: KeptStreams;
  readonly sockets: OpenSockets;
  readonly begin: BeginTransaction | null;
}

/** Builds the process's services on what was opened. */
export function appDeps(parts: ProcessParts): AppDeps {
  const { kv, clock, tenants, config, baseUrl } = parts;
  const isAlone = parts.kvFile !== undefined;
  const meter = new Meter(kv, clock, { isAlone });
  const control = new ControlPlane(kv, clock, { days: config.logDays, log: parts.log });
  const query: QueryContext = {
    tenants,
    clock,
    baseUrl,
    meter,
    facts: parts.facts ?? new FactsCache(),
    replays: new Replays(kv, clock, { isAlone }),
    counts: new StatementCounts(),
    rules: control.rules,
    approvals: new Approvals(kv, clock, parts.log),
    held: new HeldCalls(kv, clock),
    hashes: new KeyedHashes(kv),
    bounds: { rows: config.maxResultRows, bytes: config.maxResultBytes },
    readmit: (call) => readmitCaller({ control, clock }, call),
  };
  const published = publishedContext(parts, control, query);
  return {
    ...parts,
    control,
    requests: new RequestCounts(clock.now()),
    ledger: new Ledger(kv, clock, (namespaceId) => meter.recheck(namespaceId)),
    welcomeCreditNanoUsd: toNanoUsd(config.welcomeCreditUsd),
    query,
    published,
    people: peopleContext(parts, published),
    hrana: {
      kept: new KeptStreams({ clock, hashes: query.hashes, resume: resumeTransaction }),
      sockets: new OpenSockets(),
      begin: beginTransaction,
    },
    schemas: { rankings: new RankingCache(), probes: new ProbeMemory() },
    oauth: oauthContext(parts, published),
    changes: new ChangeFeeds(query),
    webhooks: webhookDeps(parts, control, query),
    exports: tenants.transfers === null ? null : new KeptExports(tenants.transfers.room, clock),
  };
}

function webhookDeps(
  { log, config: { webhooksPrivate: allowPrivate }, post = postPublic }: ProcessParts,
  control: ControlPlane,
  query: QueryContext,
): WebhookDeps {
  const sending = { control, query, log, post, allowPrivate, attempts: { delivered: 0, failed: 0 } };
  return { sending, deliverer: new WebhookDeliverer(sending) };
}

function oauthContext(
  { clock, baseUrl, readDocument }: ProcessParts,
  { control, hashes, rateCounters }: PublishedContext,
): OauthContext {
  const documents = new ClientDocuments(clock, readDocument);
  return { control, clock, baseUrl, hashes, rateCounters, documents };
}

/** Password hashes for each core that run or wait: at 27 ms each, the last one waits for less than two seconds. */
const HASHES_A_CORE = 64;

function publishedContext(parts: ProcessParts, control: ControlPlane, query: QueryContext): PublishedContext {
  const { kv, clock, log, config } = parts;
  const { hashes } = query;
  const cores = Math.max(1, navigator.hardwareConcurrency);
  const admitted = cores * HASHES_A_CORE;
  const hashBounds = { running: cores, admitted, admittedOfOwner: admitted / 2 };
  const rateCounters = new RateCounters(kv, clock);
  const model = chooseModel(config, { fetch: parts.fetch ?? sendOnce, log });
  const ctx: PublishedContext = {
    control,
    query,
    clock,
    hashes,
    rateCounters,
    guesses: new LoginGuesses(kv, clock),
    captcha: captchaOf(parts, hashes),
    passwords: new PasswordHasher(hashBounds, parts.passwordIterations),
    refusals: new FoldedRefusals(),
    askModel: config.askUrl === null
      ? model
      : new BoundedModel(model, { meter: query.meter, rateCounters, clock, perDay: config.askPerDay }),
    mail: null,
  };
  return { ...ctx, mail: mailQueue(parts, ctx) };
}

/** Null where there is no mail server. */
function mailQueue(
  { kv, clock, log, config, baseUrl }: ProcessParts,
  ctx: PublishedContext,
): MailQueue | null {
  const { smtpUrl: server, smtpFrom: from, mailPerDay } = config;
  if (server === null || from === null) return null;
  return new MailQueue({
    jobs: new MailJobs(kv, clock),
    mailer: new SmtpMailer({ server, from, helo: new URL(baseUrl).hostname }),
    clock,
    log,
    write: (request) => writeMail({ ...ctx, mailPerDay }, request),
    audit: ctx.control.audit,
  });
}

/** Failed sign-ins of one address in one hour: people share addresses. */
const FAILURES_OF_ADDRESS = 30;

/** One hasher for all, so that no more passwords are computed at once than there are cores for. */
function peopleContext(
  { kv, clock, log, baseUrl, operatorKeyHash }: ProcessParts,
  { control, hashes, passwords, guesses }: PublishedContext,
): PeopleContext {
  const failures = {
    ofAccount: new LoginFailures(kv, clock),
    ofAddress: new LoginFailures(kv, clock, FAILURES_OF_ADDRESS),
  };
  return { control, clock, log, baseUrl, operatorKeyHash, hashes, passwords, failures, places: guesses };
}

/** The settings have been checked together: a provider other than the embedded one has both keys. */
function captchaOf({ config, kv, clock, ...parts }: ProcessParts, hashes: KeyedHashes): Captcha {
  const { captchaProvider: provider, captchaSiteKey: siteKey, captchaSecret: secret } = config;
  if (provider === "altcha" || siteKey === null || secret === null) {
    return captchaAltcha({ kv, hashes, clock });
  }
  return captchaSiteverify({ provider, siteKey, secret, fetch: parts.fetch ?? sendOnce });
}
