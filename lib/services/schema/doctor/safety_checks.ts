// Checks of what strangers can do: endpoints that show secrets or write without a bound, and rules that a rename gets
// around.
import { matchesGlob } from "../../../query/matches_glob.ts";
import { nearMatches } from "../../../sql/hints/hints.ts";
import { foldName, sameName } from "../../../sql/words/names.ts";
import { isForAll, ruleWarnings } from "../../rules/manage_rules.ts";
import type { TableFacts } from "../schema_facts.ts";
import { isSecretName } from "../secret_column.ts";
import { usersColumns } from "./account_checks.ts";
import type { Examined, Found } from "./examined.ts";
import { databaseApiCall, endpointCall } from "./suggestions.ts";

/** Published public endpoints whose answers show secrets. */
export function sensitiveColumnExposed({ byName, endpoints, address }: Examined): Found[] {
  const has = (table: string, column: string) =>
    byName.get(foldName(table))?.columns.some((one) => sameName(one.name, column)) === true;
  return endpoints.filter(({ auth }) => auth === "public").flatMap(({ slug, columns, tables }) =>
    columns.filter(isSecretName).map((column) => ({
      table: tables.find((table) => has(table, column)) ?? tables[0] ?? "",
      column,
      message: `Take ${column} out of what the public endpoint ${slug} answers; pause it until then`,
      suggestion: endpointCall(address, "POST", `${slug}/pause`),
    }))
  );
}

/** The limit that the suggestion sets: enough for people, too little for a flood. */
const RATE_LIMIT = { perMin: 30 };

/** Kinds of endpoints that write. */
const writingKinds: ReadonlySet<string> = new Set(["mutation", "auth_signup", "auth_reset", "auth_verify"]);

/** Published public endpoints that write for anybody, without a limit. */
export function publicMutation({ endpoints, address }: Examined): Found[] {
  return endpoints.filter((one) =>
    one.auth === "public" && writingKinds.has(one.kind) && !one.captcha && !one.rateLimit
  ).map(({ slug, tables }) => ({
    table: tables[0] ?? "",
    column: null,
    message: `Set a captcha or a rate limit on the public endpoint ${slug}, which writes`,
    suggestion: endpointCall(address, "PATCH", slug, { rateLimit: RATE_LIMIT }),
  }));
}

/**
 * Published public mutations of rows that belong to users: strangers change and delete those of anybody, or add some in
 * a user's name. A reference that may be NULL does not make each new row a user's, so adding rows is no finding there.
 */
export function usersRowsOpen({ byName, endpoints, address }: Examined): Found[] {
  const named = (wanted: string) => byName.get(foldName(wanted));
  const ownerOf = (table: TableFacts, changesRows: boolean) =>
    table.foreignKeys.filter(({ toTable }) => {
      const parent = named(toTable);
      return parent !== undefined && usersColumns(parent) !== null;
    }).flatMap(({ columns }) => columns).find((column) =>
      changesRows || table.columns.some(({ name, notNull }) => name === column && notNull)
    );
  return endpoints.filter(({ auth, kind }) => auth === "public" && kind === "mutation").flatMap((endpoint) =>
    endpoint.writes.flatMap((write) => {
      const table = named(write.table);
      const column = table && ownerOf(table, write.changesRows);
      if (table === undefined || column === undefined) return [];
      const { slug } = endpoint;
      return [{
        table: table.name,
        column,
        message:
          `Ask for a session in the endpoint ${slug}, which writes rows of any user for anybody, and set or compare ` +
          `${column} with $user_id (the scaffold's owner does); pause it until then`,
        suggestion: endpointCall(address, "POST", `${slug}/pause`),
      }];
    })
  );
}

/** Rules that an admin token gets around by renaming the table. */
export function ruleRenamedAround({ rules, address }: Examined): Found[] {
  return rules.flatMap((rule) =>
    ruleWarnings(rule, rules).map(({ message }) => ({
      table: rule.tableGlob,
      column: null,
      message,
      suggestion: databaseApiCall(address, "PATCH", `rules/${rule.id}`, {
        actions: [...rule.actions ?? [], "schema"],
      }),
    }))
  );
}

/**
 * Rules about rows of tables that there are not, as of a name that is misspelt: whoever wrote it believes that it holds
 * something. A rule for the schema alone is about names to come.
 */
export function ruleWithoutTable({ rules, schema, takenNames, address }: Examined): Found[] {
  const names = [...takenNames];
  return rules.filter(({ enabled, actions, tableGlob }) =>
    enabled && (actions === null || actions.some((action) => action !== "schema")) &&
    !isForAll(tableGlob) && !names.some((name) => matchesGlob(tableGlob, name))
  ).map(({ id, tableGlob }) => {
    const [near] = nearMatches(tableGlob, schema.tables.map(({ name }) => name));
    return {
      table: tableGlob,
      column: null,
      message: `Correct the rule for ${tableGlob}, which holds nothing: no table has that name` +
        (near === undefined ? "; switch it off if it is not for a table to come" : `; did you mean ${near}?`),
      suggestion: databaseApiCall(
        address,
        "PATCH",
        `rules/${id}`,
        near === undefined ? { enabled: false } : { tableGlob: near },
      ),
    };
  });
}
