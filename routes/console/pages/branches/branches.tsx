// /console/:ns/db/:db/branches: the copies of a database, and how one is claimed.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { requireRole } from "../../../../lib/access/caller.ts";
import { type BranchClaim, claimBranch } from "../../../../lib/services/branches/claim_branch.ts";
import { listBranches } from "../../../../lib/services/branches/manage_branches.ts";
import { claimBody } from "../../../v1/branch_schemas.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { attempt, checked } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { readForm } from "../../frame/read_form.ts";
import type { Returned } from "../../frame/returned.ts";
import { Branches } from "./branches_view.tsx";
import { branchPage } from "../../frame/database_pages.ts";

const PATH = "/:ns/db/:db/branches";
const words = {
  purpose: "Say what it is for, in 1 to 200 characters",
  ref: "Use lower-case letters, digits, dots, underscores and hyphens, at most 64 characters",
  ttlSec: "Choose how long it lives",
};

/** Mounted under `/console`. */
export function branchesRoutes(deps: AppDeps): Hono<Env> {
  const page = async (c: Context<Env>, came: Came) => {
    const at = await branchPage(deps, c);
    const branches = await listBranches(at.branches);
    return await renderPage(
      c,
      {
        title: `Branches of ${at.path}`,
        namespace: at.namespace,
        database: { path: at.path, tab: "Branches", counts: { Branches: branches.length } },
        returned: came.returned,
      },
      <Branches
        visit={c.get("visit")}
        at={{ ...at, baseUrl: deps.baseUrl }}
        branches={branches}
        {...came}
      />,
    );
  };
  return new Hono<Env>()
    .get(PATH, (c) => page(c, { claim: null, returned: null }))
    .post(PATH, async (c) => {
      const at = await branchPage(deps, c);
      requireRole(at.branches.target, "admin");
      const fields = await readForm(c);
      const claimed = await attempt(() =>
        claimBranch(
          at.branches,
          checked(claimBody, {
            purpose: fields.text("purpose"),
            ttlSec: z.coerce.number().catch(0).parse(fields.text("ttlSec")),
            role: fields.text("role"),
            ref: fields.optional("ref"),
          }, words),
        )
      );
      // The token is shown once: this page cannot be asked for again.
      return claimed.ok
        ? await page(c, { claim: claimed.value, returned: null })
        : await page(c, { claim: null, returned: { form: "claim", fields, problem: claimed.problem } });
    });
}

/** What has become of a form of this page. */
interface Came {
  readonly claim: BranchClaim | null;
  readonly returned: Returned<"claim"> | null;
}
