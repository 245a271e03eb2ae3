// /console/-/connect: a person allows an MCP client to use databases, by the own session or by a token. The address holds
// the client's whole request, which is checked again with every form.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { authenticateToken } from "../../../../lib/access/authenticate.ts";
import { AppError, invalidInput } from "../../../../lib/core/errors.ts";
import { listDatabases } from "../../../../lib/services/databases/manage_databases.ts";
import {
  allowClient,
  type Allowed,
  type Allower,
  denyClient,
} from "../../../../lib/services/oauth/allow_client.ts";
import { type Authorization, checkAuthorization } from "../../../../lib/services/oauth/authorization.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { role } from "../../../http/schemas.ts";
import { manageContext } from "../../../http/service_contexts.ts";
import { attempt, checked } from "../../frame/attempt.ts";
import { formTargetOf } from "../../frame/form_target.ts";
import { renderPage } from "../../frame/page.tsx";
import { type FormFields, readForm } from "../../frame/read_form.ts";
import type { Returned } from "../../frame/returned.ts";
import { visibleText } from "../../parts/visible_text.ts";
import { Connect, type ConnectForm, NotConnected } from "./connect_view.tsx";

/** Most databases that the form offers one by one, and that a client may be allowed by name. */
const OFFERED = 30;
const MAX_NAMED = 100;
/** All of them, also those to come. */
const ALL = "*";

const allowed = z.object({ role, databases: z.array(z.string().max(128)).max(MAX_NAMED) });

/** Mounted under `/console`. */
export function connectRoutes(deps: AppDeps): Hono<Env> {
  const page = async (c: Context<Env>, request: Authorization, returned: Returned<ConnectForm> | null) => {
    const visit = c.get("visit");
    return await renderPage(
      c,
      {
        title: `Connect ${visibleText(request.client.name)}`,
        alone: true,
        returned,
      },
      <Connect
        visit={visit}
        request={request}
        {...await offeredTo(deps, c)}
        returned={returned}
      />,
    );
  };
  /**
   * A request that cannot be decided goes back to its client: by itself only to a program on this machine, because anybody
   * can register any other address, and a link to this service must not lead there (RFC 9700, 4.11.2).
   */
  const undecided = async (
    c: Context<Env>,
    decide: (request: Authorization) => Promise<Response>,
  ): Promise<Response> => {
    const { here } = c.get("visit");
    const check = await checkAuthorization(deps.oauth, new URL(c.req.url).searchParams);
    c.set("formTarget", formTargetOf(here));
    if (check.ok) return await decide(check.request);
    const { failed } = check;
    const isHere = new URL(failed.redirectUri).protocol === "http:";
    if (isHere || c.req.method === "POST") return c.redirect(failed.location, 303);
    const title = `${visibleText(failed.client.name)} cannot be connected`;
    return await renderPage(
      c,
      { title, alone: true, status: 400 },
      <NotConnected visit={c.get("visit")} failed={failed} title={title} />,
    );
  };
  return new Hono<Env>()
    .get("/-/connect", (c) => undecided(c, (request) => page(c, request, null)))
    .post("/-/connect", (c) =>
      undecided(c, async (request) => {
        const fields = await readForm(c);
        if (fields.exact("decision") === "deny") return c.redirect(denyClient(request), 303);
        const form = fields.has("token") ? "token" : "session";
        const gone = await attempt(async () => {
          const caller = await allowerOf(deps, c, fields);
          return await allowClient(deps.oauth, { caller, request, ...allowedIn(fields, form) });
        });
        if (!gone.ok) return await page(c, request, { form, fields, problem: gone.problem });
        return c.redirect(gone.value, 303);
      }));
}

/** Errors: `session_ended`, `validation_failed` for a token that cannot allow anything. */
async function allowerOf(deps: AppDeps, c: Context<Env>, fields: FormFields): Promise<Allower> {
  if (fields.has("token")) {
    return await Promise.try(() => authenticateToken(deps, `Bearer ${fields.text("token")}`))
      .catch((error: unknown) => {
        if (!(error instanceof AppError) || error.status !== 401) throw error;
        throw invalidInput(
          "token",
          "Paste an API token of your own; this one is unknown, revoked, expired or a client's",
        );
      });
  }
  const caller = c.get("visit").person?.caller;
  if (caller?.kind === "member") return caller;
  throw new AppError(caller === undefined ? "session_ended" : "member_required", {
    ...(caller === undefined ? {} : { message: "Use a token; the operator belongs to no namespace" }),
  });
}

/** Errors: `validation_failed`. */
function allowedIn(fields: FormFields, form: ConnectForm): Allowed {
  const named = form === "token"
    ? fields.names("database")
    : [...fields.all("database"), ...fields.names("others")];
  const all = form === "token" ? named.length === 0 : named.includes(ALL);
  const input = { role: fields.text("role"), databases: all ? [] : named };
  const { role, databases } = checked(allowed, input, { role: "Choose what it may do" });
  return { role, databases: all ? null : databases };
}

/** What a member can choose from, unless there is too much of it; empty for anybody else. */
async function offeredTo(
  deps: AppDeps,
  c: Context<Env>,
): Promise<{ readonly databases: readonly string[]; readonly isPart: boolean }> {
  const caller = c.get("visit").person?.caller;
  if (caller?.kind !== "member") return { databases: [], isPart: false };
  const page = { namespaceSlug: caller.namespaceSlug, cursor: null, pageSize: OFFERED };
  const { items, nextCursor } = await listDatabases(manageContext(deps, c), page);
  const isPart = nextCursor !== null;
  return { databases: isPart ? [] : items.map(({ slug }) => slug), isPart };
}
