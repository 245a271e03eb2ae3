// /console/:ns/members: who belongs to a namespace and what they may. The link that lets somebody in is shown once.
import { type Context, Hono } from "hono";
import { z } from "zod";
import { memberRoles } from "../../../../lib/core/role.ts";
import {
  addMember,
  changeMember,
  type InvitedMember,
  inviteMember,
  listMembers,
  removeMember,
} from "../../../../lib/services/people/manage_members.ts";
import type { AppDeps } from "../../../http/app_deps.ts";
import type { Env } from "../../../http/env.ts";
import { emailAddress } from "../../../http/schemas.ts";
import { manageContext } from "../../../http/service_contexts.ts";
import { attempt, checked } from "../../frame/attempt.ts";
import { renderPage } from "../../frame/page.tsx";
import { readForm } from "../../frame/read_form.ts";
import type { Returned } from "../../frame/returned.ts";
import { Members, type MembersForm } from "./members_view.tsx";

const PAGE_SIZE = 100;
const memberRole = z.enum(memberRoles);
const newMember = z.object({ email: emailAddress, role: memberRole });
const roleChange = z.object({ role: memberRole });
const words = { email: "Write an address such as ada@example.com", role: "Choose what they may do" };

/** Mounted under `/console`. */
export function membersRoutes(deps: AppDeps): Hono<Env> {
  const contextOf = (c: Context<Env>) => ({ ...manageContext(deps, c), baseUrl: deps.baseUrl });
  const page = async (
    c: Context<Env>,
    came: { readonly returned?: Returned<MembersForm>; readonly invited?: InvitedMember },
  ) => {
    const namespace = c.req.param("ns") ?? "";
    const input = { namespaceSlug: namespace, cursor: c.req.query("after") ?? null, pageSize: PAGE_SIZE };
    const list = await listMembers(contextOf(c), input);
    return await renderPage(
      c,
      {
        title: `Members of ${namespace}`,
        namespace,
        active: "Members",
        status: came.returned?.problem.status ?? (came.invited ? 201 : 200),
      },
      <Members
        visit={c.get("visit")}
        namespace={namespace}
        members={list.items}
        nextCursor={list.nextCursor}
        returned={came.returned ?? null}
        invited={came.invited ?? null}
        done={c.req.query("done") ?? null}
      />,
    );
  };
  return new Hono<Env>()
    .get("/:ns/members", (c) => page(c, {}))
    .post("/:ns/members", async (c) => {
      const [namespaceSlug, fields] = [c.req.param("ns"), await readForm(c)];
      const added = await attempt(() => {
        const sent = { email: fields.text("email"), role: fields.text("role") };
        return addMember(contextOf(c), { namespaceSlug, ...checked(newMember, sent, words) });
      });
      if (!added.ok) return await page(c, { returned: { form: "invite", fields, problem: added.problem } });
      return await page(c, { invited: added.value });
    })
    .post("/:ns/members/:id/role", async (c) => {
      const [{ ns: namespaceSlug, id }, fields] = [c.req.param(), await readForm(c)];
      const changed = await attempt(() => {
        const { role } = checked(roleChange, { role: fields.text("role") }, words);
        return changeMember(contextOf(c), { namespaceSlug, id, role });
      });
      if (!changed.ok) {
        return await page(c, { returned: { form: "change", fields, problem: changed.problem } });
      }
      return c.redirect(`/console/${namespaceSlug}/members?done=role`, 303);
    })
    .post("/:ns/members/:id/link", async (c) => {
      const [{ ns: namespaceSlug, id }, fields] = [c.req.param(), await readForm(c)];
      const invited = await attempt(() => inviteMember(contextOf(c), { namespaceSlug, id }));
      if (!invited.ok) {
        return await page(c, { returned: { form: "change", fields, problem: invited.problem } });
      }
      return await page(c, { invited: invited.value });
    })
    .post("/:ns/members/:id/remove", async (c) => {
      const [{ ns: namespaceSlug, id }, fields] = [c.req.param(), await readForm(c)];
      const removed = await attempt(() => removeMember(contextOf(c), { namespaceSlug, id }));
      if (!removed.ok) {
        return await page(c, { returned: { form: "change", fields, problem: removed.problem } });
      }
      return c.redirect(`/console/${namespaceSlug}/members?done=removed`, 303);
    });
}
