// /console/:ns/db/:db/log: every call of the database, newest first, to find one and what it cost.
import { DAY_MS } from "../../../../lib/core/clock.ts";
import { Hono } from "hono";
import { z } from "zod";
import { isId } from "../../../../lib/core/ids.ts";
import { callerNames } from "../../../../lib/services/people/caller_names.ts";
import { readQueryLog } from "../../../../lib/services/query/read_query_log.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { manageContext } from "../../../http/service_contexts.ts";
import { renderPage } from "../../frame/page.tsx";
import { databasePage } from "../../frame/database_pages.ts";
import { Log, type LogFilter } from "./log_view.tsx";

const PAGE_SIZE = 100;

/** What the address may ask for; what cannot be meant is left out, since people type addresses. */
const asked = z.object({
  status: z.enum(["ok", "error"]).nullable().catch(null).default(null),
  who: z.string().min(1).max(64).nullable().catch(null).default(null),
  since: z.iso.date().nullable().catch(null).default(null),
  until: z.iso.date().nullable().catch(null).default(null),
  after: z.string().refine((text) => isId("qry", text)).nullable().catch(null).default(null),
  id: z.string().refine((text) => isId("qry", text)).nullable().catch(null).default(null),
});

/** Mounted under `/console`. */
export function logRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>().get("/:ns/db/:db/log", async (c) => {
    const { ctx, namespace, path, base } = await databasePage(deps, c);
    const filter: LogFilter = asked.parse(c.req.query());
    const { status, who, since, until, after, id } = filter;
    const page = await readQueryLog(ctx, {
      sinceMs: since === null ? null : Date.parse(since),
      // Both days are whole ones.
      untilMs: until === null ? null : Date.parse(until) + DAY_MS,
      tokenId: who,
      status,
      cursor: after,
      pageSize: id === null ? PAGE_SIZE : 1,
      ...(id === null ? {} : { id }),
    });
    const callers = [...page.entries.map(({ tokenId }) => tokenId), ...(who === null ? [] : [who])];
    const names = await callerNames(manageContext(deps, c), namespace, callers);
    return await renderPage(
      c,
      { title: `Log of ${path}`, namespace, database: { path, tab: "Log" } },
      <Log
        visit={c.get("visit")}
        at={{ namespace, path, base: `${base}/log`, baseUrl: deps.baseUrl }}
        filter={filter}
        entries={page.entries}
        nextCursor={page.nextCursor}
        names={names}
      />,
    );
  });
}
