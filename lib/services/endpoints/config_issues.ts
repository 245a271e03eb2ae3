// Whether `authConfig` and `askConfig` stand where they belong, and the latter names what the database has.
import type { Issue } from "../../core/errors.ts";
import { isReservedName } from "../../sql/service_tables.ts";
import type { SchemaNames } from "../../tenant/tenant_store.ts";
import { foldName } from "../schema/fold_name.ts";
import type { SpecParts } from "./spec_parts.ts";

type Tables = SchemaNames["tables"];

/** `raw` tells a missing object from a malformed one, which has its own issues already. */
export function configIssues(spec: SpecParts, raw: unknown, tables: Tables): Issue[] {
  const { kind } = spec;
  if (kind === undefined) return [];
  const known = tables.filter(({ name, kind }) => kind !== "shadow" && !isReservedName(name));
  return [
    ...placeIssue("authConfig", kind === "auth_signup" || kind === "auth_login", raw),
    ...placeIssue("askConfig", kind === "ask", raw),
    ...askIssues(spec, known),
  ];
}

function placeIssue(name: "authConfig" | "askConfig", belongs: boolean, raw: unknown): Issue[] {
  const present = typeof raw === "object" && raw !== null && Object.hasOwn(raw, name);
  if (present === belongs) return [];
  return [{
    path: name,
    message: belongs ? "Add this field; the kind requires it" : "Remove this; the kind has no use for it",
  }];
}

function askIssues({ kind, askConfig }: SpecParts, tables: Tables): Issue[] {
  if (kind !== "ask" || askConfig === undefined) return [];
  return askConfig.allowedTables.flatMap((name, at) =>
    tables.some((table) => foldName(table.name) === foldName(name))
      ? []
      : [{ path: `askConfig.allowedTables[${at}]`, message: "Name a table or view of this database" }]
  );
}
