// /api/namespaces/:slug/members: the people of a namespace. The link that lets one in is shown once.
import { Hono } from "hono";
import { z } from "zod";
import { memberRoles } from "../../lib/core/role.ts";
import {
  addMember,
  changeMember,
  inviteMember,
  listMembers,
  removeMember,
} from "../../lib/services/people/manage_members.ts";
import { describing, sendData, sendPage } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { displayName, emailAddress, isoTimestamp, page, pageMeta, someChange } from "../http/schemas.ts";
import { manageContext } from "../http/service_contexts.ts";
import { noBody, validate } from "../middleware/validate.ts";

const memberRole = z.enum(memberRoles);
const memberRecord = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string().nullable(),
  role: memberRole,
  state: z.enum(["invited", "active"]).describe("invited: has not come yet"),
  createdAt: isoTimestamp,
  joinedAt: isoTimestamp.nullable(),
});
const invited = memberRecord.extend({
  inviteUrl: z.string().describe("Lets the member in once; it is in this answer and nowhere else"),
  inviteExpiresAt: isoTimestamp,
});
const memberBody = z.strictObject({ email: emailAddress, role: memberRole }).meta({
  examples: [{ email: "ada@example.com", role: "editor" }],
});
const memberChange = z.strictObject({ role: memberRole.optional(), name: displayName.optional() })
  .refine(...someChange).meta({ minProperties: 1, examples: [{ role: "viewer" }] });
const described = describing(["members"]);

/** Mounted under `/api/namespaces`. */
export function memberRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .post(
      "/:slug/members",
      described("Invite a member", invited, { status: 201 }),
      validate("json", memberBody),
      async (c) => {
        const input = { namespaceSlug: c.req.param("slug"), ...c.req.valid("json") };
        const ctx = { ...manageContext(deps, c), baseUrl: deps.baseUrl };
        return sendData(c, await addMember(ctx, input), 201);
      },
    )
    .get(
      "/:slug/members",
      described("List the members", z.array(memberRecord), { meta: pageMeta }),
      validate("query", page),
      async (c) => {
        const { cursor = null, pageSize } = c.req.valid("query");
        const input = { namespaceSlug: c.req.param("slug"), cursor, pageSize };
        return sendPage(c, await listMembers(manageContext(deps, c), input));
      },
    )
    .patch(
      "/:slug/members/:id",
      described("Change a member", memberRecord),
      validate("json", memberChange),
      async (c) => {
        const address = { namespaceSlug: c.req.param("slug"), id: c.req.param("id") };
        const input = { ...address, ...c.req.valid("json") };
        return sendData(c, await changeMember(manageContext(deps, c), input));
      },
    )
    .delete(
      "/:slug/members/:id",
      described("Remove a member", memberRecord),
      noBody,
      async (c) => {
        const address = { namespaceSlug: c.req.param("slug"), id: c.req.param("id") };
        return sendData(c, await removeMember(manageContext(deps, c), address));
      },
    )
    .post(
      "/:slug/members/:id/invite",
      described("Make a new link for a member", invited),
      noBody,
      async (c) => {
        const address = { namespaceSlug: c.req.param("slug"), id: c.req.param("id") };
        const ctx = { ...manageContext(deps, c), baseUrl: deps.baseUrl };
        return sendData(c, await inviteMember(ctx, address));
      },
    );
}
