// /console/:ns/db/:db/archive: which moments of the database can be brought back, and the way to one of them.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { requireRole } from "../../../../lib/access/caller.ts";
import { isId } from "../../../../lib/core/ids.ts";
import { callerNames } from "../../../../lib/services/people/caller_names.ts";
import { readArchive, snapshotOfMoment } from "../../../../lib/services/snapshots/archived_moment.ts";
import { listWrites } from "../../../../lib/services/snapshots/list_writes.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { manageContext } from "../../../http/service_contexts.ts";
import { attempt, checked } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { readForm } from "../../frame/read_form.ts";
import type { Returned } from "../../frame/returned.ts";
import { Archive } from "./archive_view.tsx";
import { databasePage, snapshotContext } from "../../frame/database_pages.ts";

const PATH = "/:ns/db/:db/archive";
const PAGE_SIZE = 25;

/** As a field of the browser has it, with or without seconds, in UTC as the page says. */
const moment = z.string().transform((text) => /T\d\d:\d\d$/.test(text) ? `${text}:00Z` : `${text}Z`)
  .pipe(z.iso.datetime());
const words = { at: "Use a date and a time, as 2026-11-20T14:05:30" };
/** What the address may ask for; what cannot be meant is left out, since people type addresses. */
const asked = z.object({
  until: moment.nullable().catch(null).default(null),
  after: z.string().refine((text) => isId("evt", text)).nullable().catch(null).default(null),
});
/** They pass by themselves, and what was typed is still right then. */
const PASSING = ["database_busy", "archive_unavailable", "archive_damaged"] as const;

/** Mounted under `/console`. */
export function archiveRoutes(deps: AppDeps): Hono<Env> {
  const page = async (c: Context<Env>, returned: Returned<"moment"> | null) => {
    const at = await databasePage(deps, c);
    const { until, after } = asked.parse(c.req.query());
    const archive = await readArchive(snapshotContext(deps, c, at));
    const input = { untilMs: until === null ? null : Date.parse(until), after, pageSize: PAGE_SIZE };
    const { writes, older } = archive.on ? await listWrites(at.ctx, input) : { writes: [], older: null };
    const actors = writes.map(({ actor }) => actor);
    return await renderPage(
      c,
      {
        title: `Archive of ${at.path}`,
        namespace: at.namespace,
        database: { path: at.path, tab: "Archive" },
        returned,
      },
      <Archive
        visit={c.get("visit")}
        base={at.base}
        role={at.target.role}
        archive={archive}
        nowMs={deps.clock.now()}
        days={{ archive: deps.config.archiveDays, snapshots: deps.config.snapshotDays }}
        stores={deps.config.tenantsUrl.kind}
        writes={writes}
        older={older}
        asked={{ until: until === null ? null : c.req.query("until") ?? null, isPage: after !== null }}
        names={await callerNames(manageContext(deps, c), at.namespace, actors)}
        returned={returned}
      />,
    );
  };
  return new Hono<Env>()
    .get(PATH, (c) => page(c, null))
    .post(`${PATH}/moment`, async (c) => {
      const at = await databasePage(deps, c);
      requireRole(at.target, "admin");
      const fields = await readForm(c);
      const done = await attempt(() => {
        const { at: utc } = checked(z.object({ at: moment }), { at: fields.text("at") }, words);
        return snapshotOfMoment(snapshotContext(deps, c, at), utc);
      }, PASSING);
      if (!done.ok) return await page(c, { form: "moment", fields, problem: done.problem });
      return c.redirect(`${at.base}/snapshots/${encodeURIComponent(done.value)}/restore`, 303);
    });
}
