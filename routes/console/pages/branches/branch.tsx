// /console/:ns/db/:db/branches/:ref: what a branch has changed, as a page to read; merged, made fresh, or deleted here.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { requireRole } from "../../../../lib/access/caller.ts";
import { requireBranch } from "../../../../lib/services/branches/branch_context.ts";
import { deleteBranch, diffBranch, resetBranch } from "../../../../lib/services/branches/manage_branches.ts";
import { mergeBranch } from "../../../../lib/services/branches/merge_branch.ts";
import { mergeDigest, mergeSeen } from "../../../../lib/services/branches/merge_seen.ts";
import { requireConfirm } from "../../../../lib/services/manage_context.ts";
import { PLAIN_ROWS } from "../../../../lib/sql/words/row_form.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { mergeBody } from "../../../v1/branch_schemas.ts";
import { attempt, type Problem } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { readForm } from "../../frame/read_form.ts";
import type { Returned } from "../../frame/returned.ts";
import type { MergePreview } from "./branch_merge_view.tsx";
import { Branch } from "./branch_view.tsx";
import { type BranchPage, branchPage } from "../../frame/database_pages.ts";

const PATH = "/:ns/db/:db/branches/:ref";
const chosen = mergeBody.pick({ mode: true, onConflict: true });
const seenMerge = chosen.extend({ seen: z.string() });

/** Why a form of this page is back. */
interface Came {
  readonly problem?: Problem;
  readonly returned?: Returned<"delete">;
}

/** Mounted under `/console`. */
export function branchRoutes(deps: AppDeps): Hono<Env> {
  const page = async (c: Context<Env>, came: Came) => {
    const at = await branchPage(deps, c);
    const ref = refOf(c);
    const { purpose, expiresAt, copiedAt } = await requireBranch(at.branches, ref);
    const asked = chosen.safeParse({ mode: c.req.query("mode"), onConflict: c.req.query("onConflict") });
    const preview = asked.success ? await previewOf(deps, at, { ref, ...asked.data }) : null;
    const diff = await diffBranch({ ...at.branches, meter: deps.query.meter }, { ref, rowForm: PLAIN_ROWS });
    return await renderPage(
      c,
      {
        title: `Branch ${ref} of ${at.path}`,
        namespace: at.namespace,
        database: { path: at.path, tab: "Branches" },
        status: (came.problem ?? came.returned?.problem)?.status ?? 200,
      },
      <Branch
        visit={c.get("visit")}
        at={at}
        branch={{ ref, purpose, copiedAt, expiresAt }}
        diff={diff}
        preview={preview}
        all={c.req.query("columns") === "all"}
        merged={c.req.query("merged") ?? null}
        problem={came.problem ?? null}
        returned={came.returned ?? null}
      />,
    );
  };
  return new Hono<Env>()
    .get(PATH, (c) => page(c, {}))
    .post(`${PATH}/merge`, async (c) => {
      const at = await branchPage(deps, c);
      requireRole(at.branches.target, "admin");
      const fields = await readForm(c);
      const ref = refOf(c);
      const [mode, onConflict, seen] = ["mode", "onConflict", "seen"].map((name) => fields.text(name));
      const asked = seenMerge.safeParse({ mode, onConflict, seen });
      // The page's own buttons send all of it.
      if (!asked.success) return c.redirect(`${at.base}/${encodeURIComponent(ref)}`, 303);
      const ctx = { ...deps.query, ...at.branches };
      const done = await attempt(() => mergeSeen(ctx, { ref, rowForm: PLAIN_ROWS, ...asked.data }));
      if (!done.ok) return await page(c, { problem: done.problem });
      const { snapshot } = done.value.data;
      return c.redirect(
        `${at.base}/${encodeURIComponent(ref)}?merged=${encodeURIComponent(snapshot ?? "")}`,
        303,
      );
    })
    .post(`${PATH}/reset`, async (c) => {
      const at = await branchPage(deps, c);
      requireRole(at.branches.target, "admin");
      const done = await attempt(() => resetBranch(at.branches, refOf(c)));
      if (!done.ok) return await page(c, { problem: done.problem });
      return c.redirect(`${at.base}/${encodeURIComponent(refOf(c))}`, 303);
    })
    .post(`${PATH}/delete`, async (c) => {
      const at = await branchPage(deps, c);
      requireRole(at.branches.target, "admin");
      const fields = await readForm(c);
      const done = await attempt(() => {
        requireConfirm(fields.text("confirm"), refOf(c));
        return deleteBranch(at.branches, refOf(c));
      });
      if (!done.ok) return await page(c, { returned: { form: "delete", fields, problem: done.problem } });
      return c.redirect(at.base, 303);
    });
}

function refOf(c: Context<Env>): string {
  return c.req.param("ref") ?? "";
}

/** What a merge would do; where it can only fail, why. */
async function previewOf(
  deps: AppDeps,
  { branches }: BranchPage,
  merge: z.output<typeof chosen> & { readonly ref: string },
): Promise<MergePreview> {
  const { mode, onConflict } = merge;
  const ctx = { ...deps.query, ...branches };
  const done = await attempt(() => mergeBranch(ctx, { ...merge, rowForm: PLAIN_ROWS, dryRun: true }));
  if (!done.ok) return { ok: false, mode, onConflict, message: done.problem.message };
  const report = done.value.data;
  return { ok: true, mode, onConflict, report, seen: mergeDigest(report) };
}
