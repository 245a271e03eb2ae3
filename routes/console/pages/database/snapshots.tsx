// /console/:ns/db/:db/snapshots: what the database was before, and the ways back: in place, or as a new database.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { requireRole } from "../../../../lib/access/caller.ts";
import {
  listSnapshots,
  restoreInto,
  takeSnapshot,
} from "../../../../lib/services/snapshots/manage_snapshots.ts";
import { previewRestore, restoreSeen } from "../../../../lib/services/snapshots/restore_seen.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { newSlug, snapshotLabel } from "../../../http/schemas.ts";
import { attempt, checked, type Problem } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { readForm } from "../../frame/read_form.ts";
import type { Returned } from "../../frame/returned.ts";
import { databasePage, snapshotContext } from "../../frame/database_pages.ts";
import { Restore } from "./restore_view.tsx";
import { Snapshots } from "./snapshots_view.tsx";

const PATH = "/:ns/db/:db/snapshots";
const taken = z.object({ label: snapshotLabel.optional() });
const copied = z.object({ into: newSlug });
/** It passes by itself, and what was shown may still hold then. */
const PASSING = ["database_busy"] as const;
const words = {
  label: "Use letters, digits, dots, underscores and hyphens, at most 100; it may not begin with auto-",
  into: "Use lower-case letters, digits and hyphens, a letter first, at most 40 characters",
};

/** Mounted under `/console`. */
export function snapshotsRoutes(deps: AppDeps): Hono<Env> {
  const list = async (c: Context<Env>, returned: Returned<"take"> | null) => {
    const at = await databasePage(deps, c);
    const ctx = snapshotContext(deps, c, at);
    const snapshots = await listSnapshots(ctx);
    return await renderPage(
      c,
      {
        title: `Snapshots of ${at.path}`,
        namespace: at.namespace,
        database: { path: at.path, tab: "Snapshots" },
        returned,
      },
      <Snapshots
        visit={c.get("visit")}
        at={{ namespace: at.namespace, path: at.path, base: `${at.base}/snapshots`, baseUrl: deps.baseUrl }}
        role={at.target.role}
        snapshots={snapshots}
        archives={deps.tenants.archive !== null}
        undo={c.req.query("undo") ?? null}
        returned={returned}
      />,
    );
  };
  const restore = async (c: Context<Env>, problem: Problem | null, returned: Returned<"copy"> | null) => {
    const at = await databasePage(deps, c);
    const snapshot = labelOf(c);
    const ctx = { ...deps.query, ...snapshotContext(deps, c, at) };
    const [effect, snapshots] = await Promise.all([previewRestore(ctx, { snapshot }), listSnapshots(ctx)]);
    return await renderPage(
      c,
      {
        title: `Restore ${at.path}`,
        namespace: at.namespace,
        database: { path: at.path, tab: "Snapshots" },
        status: (problem ?? returned?.problem)?.status ?? 200,
      },
      <Restore
        visit={c.get("visit")}
        base={`${at.base}/snapshots`}
        path={at.path}
        snapshot={snapshot}
        taken={snapshots.find(({ label }) => label === snapshot) ?? null}
        effect={effect}
        all={c.req.query("columns") === "all"}
        days={deps.config.snapshotDays}
        problem={problem}
        returned={returned}
      />,
    );
  };
  return new Hono<Env>()
    .get(PATH, (c) => list(c, null))
    .post(PATH, async (c) => {
      const at = await databasePage(deps, c);
      const fields = await readForm(c);
      const done = await attempt(() => {
        const { label } = checked(taken, { label: fields.optional("label") }, words);
        return takeSnapshot(snapshotContext(deps, c, at), { label });
      });
      if (!done.ok) return await list(c, { form: "take", fields, problem: done.problem });
      return c.redirect(`${at.base}/snapshots`, 303);
    })
    .get(`${PATH}/:label/restore`, (c) => restore(c, null, null))
    .post(`${PATH}/:label/restore`, async (c) => {
      const at = await databasePage(deps, c);
      const digest = (await readForm(c)).exact("digest");
      const done = await attempt(() =>
        restoreSeen({ ...deps.query, ...snapshotContext(deps, c, at) }, {
          snapshot: labelOf(c),
          digest: digest === "" ? null : digest,
        }), PASSING);
      if (!done.ok) return await restore(c, done.problem, null);
      const { undo } = done.value;
      return c.redirect(
        `${at.base}/snapshots${undo === null ? "" : `?undo=${encodeURIComponent(undo)}`}`,
        303,
      );
    })
    .post(`${PATH}/:label/copy`, async (c) => {
      const at = await databasePage(deps, c);
      // A page that comes back shows what a restore would do, which is an admin's to see.
      requireRole(at.target, "admin");
      const fields = await readForm(c);
      const done = await attempt(() => {
        const { into } = checked(copied, { into: fields.text("into") }, words);
        return restoreInto(snapshotContext(deps, c, at), { snapshot: labelOf(c), into });
      }, PASSING);
      if (!done.ok) return await restore(c, null, { form: "copy", fields, problem: done.problem });
      return c.redirect(`/console/${at.namespace}/db/${done.value.slug}`, 303);
    });
}

function labelOf(c: Context<Env>): string {
  return c.req.param("label") ?? "";
}
