// /api/namespaces/:slug/databases/:dbSlug/rules: rules that stop writes.
import { Hono } from "hono";
import { z } from "zod";
import { addRule, changeRule, deleteRule, listRules } from "../../lib/services/rules/manage_rules.ts";
import { describing, sendData } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { noBody, validate } from "../middleware/validate.ts";
import { noQuery } from "../http/schemas.ts";
import { manageContext } from "../http/service_contexts.ts";
import { ruleBody, ruleChange, ruleDefaults, ruleRecord } from "./rule_schemas.ts";
import { addressOf } from "./path_names.ts";

const PATH = "/:slug/databases/:dbSlug/rules";
const described = describing(["rules"]);

/** Mounted under `/api/namespaces`. */
export function ruleRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get(
      PATH,
      described("List the rules", z.array(ruleRecord)),
      validate("query", noQuery),
      async (c) => sendData(c, await listRules(manageContext(deps, c), addressOf(c))),
    )
    .post(
      PATH,
      described("Add a rule", ruleRecord, { status: 201 }),
      validate("json", ruleBody),
      async (c) => {
        const input = {
          address: addressOf(c),
          settings: { ...ruleDefaults, ...given(c.req.valid("json")) },
        };
        return sendData(c, await addRule(manageContext(deps, c), input), 201);
      },
    )
    .patch(
      `${PATH}/:id`,
      described("Change a rule", ruleRecord),
      validate("json", ruleChange),
      async (c) => {
        const { revision, ...settings } = c.req.valid("json");
        const input = {
          address: addressOf(c),
          ruleId: c.req.param("id"),
          settings: given(settings),
          revision,
        };
        return sendData(c, await changeRule(manageContext(deps, c), input));
      },
    )
    .delete(
      `${PATH}/:id`,
      described("Delete a rule", z.object({ id: z.string() })),
      noBody,
      async (c) => {
        const input = { address: addressOf(c), ruleId: c.req.param("id") };
        return sendData(c, await deleteRule(manageContext(deps, c), input));
      },
    );
}

type Given<Values> = { [Key in keyof Values]: Exclude<Values[Key], undefined> };

/** Drops absent members, which must not overwrite what is there. */
function given<Values extends object>(values: Values): Given<Values> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Given<Values>;
}
