// Failures as pages: what went wrong, what to do, and the number by which the log knows it. Whoever is not signed in is led
// to the sign-in and back, and whoever has to prove who they are does it here; what was typed is kept over both.
import type { Context, ErrorHandler } from "hono";
import { isOwnOrigin } from "../../../lib/access/authenticate_session.ts";
import { AppError, type ErrorCode } from "../../../lib/core/errors.ts";
import { type ErrorRow, errorTable } from "../../../lib/core/error_table.ts";
import type { Log } from "../../../lib/core/log.ts";
import type { Env } from "../../http/env.ts";
import type { Visit } from "../../http/visit.ts";
import { errorBoundary } from "../../middleware/error_boundary.ts";
import { namespaceOf, ownPath } from "../frame/own_path.ts";
import { readForm } from "../frame/read_form.ts";
import { renderPage, sendHtml } from "../frame/page.tsx";
import { holdsSecrets, waitingIn, waitingOf } from "../frame/resume.ts";
import { Notice } from "../parts/notice.tsx";
import { Prove } from "./account/prove_view.tsx";
import { aimAt, askToSend, type SendAgainProps } from "./account/send_again.tsx";
import { SignIn } from "./account/sign_in_view.tsx";
import { Failure, type FailureFacts, later, titleOf, wayOut } from "./failure_view.tsx";

const SIGN_IN = "/console/-/sign-in";
/** What the pages of failures need to know. */
interface FailureOptions {
  readonly log: Log;
  readonly baseUrl: string;
  /** The page on which the form of an address stands. */
  readonly pageBehind: (pathname: string) => string | null;
}

/** Answers as pages what `errorBoundary` answers as JSON, with the same status; scripts get the JSON. */
export function failurePage(
  { log, baseUrl, pageBehind }: FailureOptions,
): ErrorHandler<Env> {
  const boundary = errorBoundary(log);
  return async (error, c) => {
    const thrown = error instanceof AppError ? error.code : "internal";
    const code = thrown === "csrf_refused" && isOldPage(c, baseUrl) ? "old_page" : thrown;
    const isGet = c.req.method === "GET" || c.req.method === "HEAD";
    const forScript = c.req.header("accept")?.startsWith("application/json") ?? false;
    if (code === "session_ended" && isGet && !forScript) return c.redirect(signInPath(c), 302);
    const behind = code === "method_not_allowed" && isGet && !forScript ? pageBehind(c.req.path) : null;
    if (behind !== null) return c.redirect(behind, 302);
    // It decides about the status, and logs what nobody expected.
    const plain = await boundary(error, c);
    if (forScript) return plain;
    const message = error instanceof AppError
      ? error.message
      : "The service has failed here, and has noted it";
    if (c.get("visit") === undefined) return inText(message, plain);
    const back = isGet ? ownPath(c.get("visit").here) : pageBehind(c.req.path) ?? ownPath(c.req.path);
    const passing = isPassing(thrown) ? { back } : null;
    const facts = { code, status: plain.status, message, issues: issuesOf(error), passing };
    const part = AS_PAGES.has(code) ? null : partOf(c);
    if (c.req.header("hx-request") !== undefined && part === null) c.header("HX-Retarget", "body");
    const page = part === null ? await pageFor(c, facts) : await partFor(c, part, facts);
    for (const name of ["retry-after", "allow"]) {
      const value = plain.headers.get(name);
      if (value !== null) page.headers.set(name, value);
    }
    return new Response(page.body, { status: plain.status, headers: page.headers });
  };
}

/** What a person has to do before anything else: it takes the whole page, and keeps what was typed. */
const AS_PAGES: ReadonlySet<string> = new Set(["session_ended", "sign_in_again", "old_page"]);

/** Whether a form has come from an own page that was opened in another session than the browser has by now. */
function isOldPage(c: Context<Env>, baseUrl: string): boolean {
  const visit: Visit | undefined = c.get("visit");
  const host = new URL(c.req.url).host;
  return c.req.method === "POST" && (visit?.person ?? null) !== null &&
    isOwnOrigin(c.req.header("origin"), { baseUrl, host });
}

/** The id of the part of a page that a script waits to replace, as `HX-Target` names it (`div#outcome`); null: all of it. */
function partOf(c: Context<Env>): string | null {
  return /^[\w-]+#([\w-]{1,64})$/.exec(c.req.header("hx-target") ?? "")?.[1] ?? null;
}

/** In the place of the part alone: what was typed beside it stays. */
async function partFor(c: Context<Env>, part: string, { message, issues }: FailureFacts): Promise<Response> {
  const failure = (
    <div id={part} class="stack">
      <Notice tone="bad">
        {message}. {issues.map((issue) => `${issue}. `)}
        <span class="note">
          Request <code>{c.get("arrival").requestId}</code>
        </span>
      </Notice>
    </div>
  );
  return await sendHtml(c, failure);
}

function isPassing(code: ErrorCode): boolean {
  const { status, retryable }: ErrorRow = errorTable[code];
  return code === "meter_unreachable" || (status === 503 && retryable === true);
}

async function pageFor(c: Context<Env>, facts: FailureFacts): Promise<Response> {
  const asked = await askedPage(c, facts.code);
  if (asked !== null) return asked;
  const { here, person } = c.get("visit");
  const caller = person?.caller;
  const own = caller?.kind === "member" ? caller.namespaceSlug : null;
  const again = await formAgain(c, facts);
  const out = wayOut(facts.code, here) ?? (facts.passing && later(facts.passing.back));
  const title = out?.title ?? titleOf(facts.status);
  // Who is lost in the own namespace has its pages beside it; where the service itself fails, nothing more is asked of it.
  const isLost = facts.status < 500 && facts.passing === null && own !== null && own === namespaceOf(here);
  const place = isLost ? { namespace: own } : {};
  return await renderPage(
    c,
    { title, ...place },
    <Failure {...facts} {...out} again={again} title={title} requestId={c.get("arrival").requestId} />,
  );
}

/** A form of an own page that has failed for what passes: what was typed can be sent again. Null: there is none. */
async function formAgain(c: Context<Env>, { passing }: FailureFacts): Promise<SendAgainProps | null> {
  if (passing === null || c.req.method !== "POST") return null;
  const sent = await readForm(c).catch(() => null);
  if (sent === null) return null;
  // A password is typed anew; the form that waits behind it asks for it again.
  const isTypedAnew = holdsSecrets(sent);
  const waiting = isTypedAnew ? waitingIn(sent) : await waitingOf(c);
  if (waiting === null || (isTypedAnew && waiting.typed === "")) return null;
  aimAt(c, waiting);
  // Where nobody could be let in, the word of its page is the one that is known.
  return { csrf: c.get("visit").person?.csrf ?? sent.exact("csrf"), waiting };
}

/** The page that asks for what has to be done first; null where nothing would help. */
async function askedPage(c: Context<Env>, code: string): Promise<Response | null> {
  const scripts = ["passkey.ts"];
  const visit = c.get("visit");
  const { person, here } = visit;
  if (code === "session_ended") {
    const waiting = await waitingOf(c);
    const form = { next: waiting.to, namespace: namespaceOf(waiting.to), keyed: false, waiting };
    return await renderPage(c, { title: "Sign in", scripts }, <SignIn {...form} returned={null} />);
  }
  if (code === "sign_in_again" && c.req.method === "POST") {
    const parts = { title: "Confirm that it is you", scripts, alone: true };
    const [waiting, proofs] = await Promise.all([waitingOf(c), visit.proofs()]);
    const prove = <Prove visit={visit} proofs={proofs} waiting={waiting} returned={null} />;
    return await renderPage(c, parts, prove);
  }
  if (person === null) return null;
  if (code === "old_page") {
    return await askToSend(c, { csrf: person.csrf, waiting: await waitingOf(c) });
  }
  if (code !== "namespace_mismatch" || c.req.method !== "GET") return null;
  const form = { next: ownPath(here), namespace: namespaceOf(here), keyed: false, waiting: null };
  return await renderPage(
    c,
    { title: "Sign in", scripts, alone: true },
    <SignIn {...form} signedInAs={person.name} returned={null} />,
  );
}

function issuesOf(error: Error): string[] {
  const issues = error instanceof AppError ? error.facts.issues ?? [] : [];
  return issues.map(({ path, message }) => path === "" ? message : `${path}: ${message}`);
}

function inText(message: string, { status }: Response): Response {
  return new Response(`${message}\n`, {
    status,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "x-frame-options": "DENY",
    },
  });
}

/** The sign-in, which leads back to this page. */
function signInPath(c: Context<Env>): string {
  const { pathname, search } = new URL(c.req.url);
  const here = pathname + search;
  return /^\/console\/?$/.test(here) ? SIGN_IN : `${SIGN_IN}?next=${encodeURIComponent(here)}`;
}
