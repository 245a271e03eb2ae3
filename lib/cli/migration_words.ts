// What the command line says about migrations.
import type { ApiBody } from "./api_call.ts";

interface Row {
  readonly name: string;
  readonly appliedAt: string;
  readonly ran: boolean;
}

interface Change {
  readonly type: string;
  readonly name: string;
  readonly change: string;
}

interface Rehearsal {
  readonly schema: { readonly statements: readonly string[] };
  readonly tables: readonly {
    readonly table: string;
    readonly added: number;
    readonly removed: number;
    readonly changed: number;
  }[];
  readonly rowsLost: readonly {
    readonly table: string;
    readonly before: number;
    readonly after: number | null;
  }[];
  readonly findings: readonly {
    readonly severity: string;
    readonly table: string;
    readonly message: string;
  }[];
  readonly rule: string | null;
  readonly durationMs: number;
}

interface Done {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  readonly snapshot: string | null;
  readonly drift: readonly Change[] | null;
  readonly rehearsal?: Rehearsal | null;
}

/** Of applied files, or of a dry run. Guarantee: `data` and `meta` are those of `POST …/migrations`. */
export function doneWords({ data, meta }: ApiBody): string[] {
  const { warnings = [] } = meta as { readonly warnings?: readonly string[] };
  const warned = warnings.map((warning) => `warning: ${warning}`);
  const { applied, pending, snapshot, drift, rehearsal } = data as Done;
  const lines = driftWords(drift);
  if (rehearsal) {
    return [
      ...lines,
      ...pending.map((name) => `would apply ${name}`),
      ...rehearsalWords(rehearsal),
      ...warned,
    ];
  }
  if (applied.length === 0) return [...lines, "Nothing is pending."];
  lines.push(...applied.map((name) => `applied ${name}`));
  if (snapshot !== null) lines.push(`The state before is the snapshot ${snapshot}.`);
  return [...lines, ...warned];
}

function rehearsalWords({ schema, tables, rowsLost, findings, rule, durationMs }: Rehearsal): string[] {
  return [
    `It takes ${Math.round(durationMs)} ms on a copy, and changes:`,
    ...schema.statements.map((sql) => `  ${sql.replaceAll(/\s+/g, " ")}`),
    ...tables.map((one) =>
      `  rows of ${one.table}: ${one.added} added, ${one.removed} removed, ${one.changed} changed`
    ),
    ...rowsLost.map((one) =>
      `  LOST: ${one.table} would have ${one.after ?? "none"} of its ${one.before} rows`
    ),
    ...findings.filter(({ severity }) => severity !== "info").map((one) =>
      `  ${one.severity}: ${one.table}: ${one.message}`
    ),
    ...(rule === null ? [] : [rule === "deny" ? "A rule denies it." : "A rule holds it for a person."]),
  ];
}

function driftWords(drift: Done["drift"]): string[] {
  return (drift ?? []).map(({ type, name, change }) =>
    `note: ${type} ${name} was ${change} beside the migrations`
  );
}

/** Of the files of a folder: which are applied. Guarantee: `data` and `meta` are those of `GET …/migrations`. */
export function statusWords({ data, meta }: ApiBody, names: readonly string[]): string[] {
  const rows = new Map((data as readonly Row[]).map((row) => [row.name, row]));
  const { drift } = meta as { readonly drift: Done["drift"] };
  const known = names.map((name) => {
    const row = rows.get(name);
    rows.delete(name);
    return row ? `${row.ran ? "applied " : "recorded"} ${name} ${row.appliedAt}` : `pending  ${name}`;
  });
  const gone = [...rows.keys()].map((name) => `applied  ${name}, which is not in the folder`);
  return [...gone, ...known, ...driftWords(drift)];
}

/** Why it did not work, and what has become of the files. */
export function failureWords(body: ApiBody): string[] {
  const { error, code, applied, errorDetail } = body;
  const hint = typeof errorDetail === "object" && errorDetail !== null
    ? Reflect.get(errorDetail, "hint")
    : null;
  const issues = Array.isArray(body["issues"]) ? body["issues"] : [];
  return [
    ...(Array.isArray(applied) ? applied.map((name) => `applied ${name}`) : []),
    `${code}: ${error}`,
    ...(typeof hint === "string" ? [hint] : []),
    ...issues.map((issue: unknown) => `  ${Reflect.get(Object(issue), "message")}`),
  ];
}
