// Branches of a database: POST /claim_branch, GET /branches, and reset, diff, merge and DELETE of a branch.
import { type Context, Hono } from "hono";
import { z } from "zod";
import type { BranchContext, CopyContext } from "../../lib/services/branches/branch_context.ts";
import { claimBranch } from "../../lib/services/branches/claim_branch.ts";
import {
  deleteBranch,
  diffBranch,
  listBranches,
  resetBranch,
} from "../../lib/services/branches/manage_branches.ts";
import { mergeBranch } from "../../lib/services/branches/merge_branch.ts";
import { describing, sendData, sendWithRows } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { rowFormOf } from "../middleware/header_flag.ts";
import { noBody, validate } from "../middleware/validate.ts";
import { noQuery } from "../http/schemas.ts";
import { branch, branchClaim, branchDiff, claimBody, mergeBody, mergeReport } from "./branch_schemas.ts";
import { sendMerge } from "./send_result.ts";
import { queryMeta } from "./sql_schemas.ts";

const described = describing(["branches"]);

/** Mounted under `/v1/db/:ns/:db`. */
export function branchRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .post(
      "/claim_branch",
      described("Get a throw-away copy of the database, with a token for it", branchClaim, {
        status: 201,
        also: {
          status: 200,
          data: branchClaim,
          description: "The branch existed and is a fresh copy again",
        },
      }),
      validate("json", claimBody),
      async (c) => {
        const data = await claimBranch(copyContext(deps, c), c.req.valid("json"));
        c.set("storedForPlan", c.get("storeStep") !== undefined);
        return sendData(c, data, data.outcome === "created" ? 201 : 200);
      },
    )
    .get(
      "/branches",
      described("List the branches", z.array(branch)),
      validate("query", noQuery),
      async (c) => sendData(c, await listBranches(branchContext(deps, c))),
    )
    .delete(
      "/branches/:ref",
      described("Delete a branch and its token", branch),
      noBody,
      async (c) => {
        const data = await deleteBranch(branchContext(deps, c), c.req.param("ref"));
        return sendData(c, data);
      },
    )
    .post(
      "/branches/:ref/reset",
      described("Make a branch a fresh copy; the token of its claim ends", branch),
      noBody,
      async (c) => {
        const data = await resetBranch(copyContext(deps, c), c.req.param("ref"));
        c.set("storedForPlan", c.get("storeStep") !== undefined);
        return sendData(c, data);
      },
    )
    .get(
      "/branches/:ref/diff",
      described("Show what a branch has changed since it was made", branchDiff),
      validate("query", noQuery),
      async (c) => {
        const ctx = { ...branchContext(deps, c), meter: deps.query.meter };
        const input = { ref: c.req.param("ref"), rowForm: rowFormOf(c) };
        return sendWithRows(c, { success: true, data: await diffBranch(ctx, input) });
      },
    )
    .post(
      "/branches/:ref/merge",
      described("Merge a branch into the trunk", mergeReport, { meta: queryMeta }),
      validate("json", mergeBody),
      async (c) => {
        const ctx = { ...deps.query, ...branchContext(deps, c), plan: c.get("plan") };
        const how = { ...c.req.valid("json"), rowForm: rowFormOf(c) };
        const answer = await mergeBranch(ctx, { ref: c.req.param("ref"), ...how });
        c.set("storedForPlan", ctx.plan !== undefined && !answer.data.dryRun);
        return sendMerge(c, answer);
      },
    );
}

function branchContext({ control, tenants, clock }: AppDeps, c: Context<Env>): BranchContext {
  return { control, tenants, clock, target: c.get("target"), caller: c.get("token") };
}

function copyContext(deps: AppDeps, c: Context<Env>): CopyContext {
  return { ...branchContext(deps, c), storeStep: c.get("storeStep") };
}
