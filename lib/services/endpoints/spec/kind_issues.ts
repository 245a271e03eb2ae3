// Whether method, output, inputs, statement and configuration of a specification fit its kind.
import type { EndpointSpec, FieldSpec } from "../../../core/endpoint_spec.ts";
import type { Issue } from "../../../core/errors.ts";
import { MAX_QUESTION_LENGTH } from "../../../core/limits.ts";
import { sameName } from "../../../sql/words/names.ts";
import { isReservedName } from "../../../sql/words/service_tables.ts";
import type { StatementClass } from "../../../sql/words/statement_kinds.ts";
import type { SchemaNames } from "../../../tenant/inspection.ts";
import { bindInputs } from "./bind_inputs.ts";
import { outputsOf } from "./outputs.ts";
import type { SpecParts } from "./spec_parts.ts";

interface KindRow {
  readonly methods: readonly EndpointSpec["method"][];
  /** Null: the statement comes from elsewhere. */
  readonly statement: StatementClass | null;
  readonly config: "authConfig" | "askConfig" | null;
  /** Who may call; null: the owner decides. */
  readonly auth: "public" | "session" | null;
}

/** A GET can be repeated, prefetched and logged with its query: it neither writes nor carries a password. */
const kinds: Readonly<Record<EndpointSpec["kind"], KindRow>> = {
  query: { methods: ["GET", "POST"], statement: "read", config: null, auth: null },
  mutation: { methods: ["POST"], statement: "write", config: null, auth: null },
  auth_signup: { methods: ["POST"], statement: "write", config: "authConfig", auth: null },
  auth_login: { methods: ["POST"], statement: "read", config: "authConfig", auth: null },
  auth_password: { methods: ["POST"], statement: null, config: "authConfig", auth: "session" },
  auth_logout: { methods: ["POST"], statement: null, config: null, auth: "session" },
  auth_refresh: { methods: ["POST"], statement: null, config: "authConfig", auth: "session" },
  auth_reset: { methods: ["POST"], statement: null, config: "authConfig", auth: "public" },
  auth_verify: { methods: ["POST"], statement: null, config: "authConfig", auth: "public" },
  ask: { methods: ["GET", "POST"], statement: null, config: "askConfig", auth: null },
};

/** Whether its owner writes the statement. True where the kind is not known. */
export function hasStatement({ kind }: Pick<SpecParts, "kind">): boolean {
  return kind === undefined || kinds[kind].statement !== null;
}

const doing: Readonly<Record<StatementClass, string>> = {
  read: "only reads",
  write: "writes",
  schema: "changes the schema",
  refused: "may not be run by anybody",
};

/** What is known about the statement: null where there is none or it does not compile. */
export interface StatementShape {
  readonly class: StatementClass;
  readonly parameterCount: number;
  readonly returnsRows: boolean;
}

/** One issue for each part that does not fit. `statement` is null where there is none or it does not compile. */
export function kindIssues(spec: SpecParts, statement: StatementShape | null): Issue[] {
  const { kind, output, method, cacheSec } = spec;
  if (kind === undefined) return [];
  const row = kinds[kind];
  const allowed = outputsOf(kind);
  const issues: Issue[] = [];
  if (output !== undefined && !allowed.includes(output)) {
    issues.push({ path: "output", message: `Use ${allowed.join(" or ")}; the kind is ${kind}` });
  }
  if (method !== undefined && !row.methods.includes(method)) {
    issues.push({ path: "method", message: `Use ${row.methods.join(" or ")}; the kind is ${kind}` });
  }
  if (row.auth !== null && (spec.auth ?? "public") !== row.auth) {
    issues.push({ path: "auth", message: `Use ${row.auth}; the kind is ${kind}` });
  }
  // A cache asks nobody for a session or a solved captcha.
  const isOpen = spec.auth !== "session" && spec.captcha !== true;
  if (cacheSec !== undefined && (kind !== "query" || method === "POST" || !isOpen)) {
    issues.push({
      path: "cacheSec",
      message: "Remove this; it is for public queries by GET without captcha",
    });
  }
  if (spec.outputTypes !== undefined && output !== "rows" && output !== "first_row" && output !== "page") {
    issues.push({
      path: "outputTypes",
      message: "Remove this; it is for the outputs rows, first_row and page",
    });
  }
  if ((spec.list !== undefined) !== (output === "page")) {
    issues.push({
      path: "list",
      message: output === "page"
        ? "Add this; a page is one of a list"
        : "Remove this; it is for the output page",
    });
  }
  if (spec.contentType !== undefined && output !== "bytes") {
    issues.push({ path: "contentType", message: "Remove this; it is for the output bytes" });
  }
  return [...issues, ...statementIssues(spec, row, statement), ...requiredInputs(spec)];
}

function statementIssues(spec: SpecParts, row: KindRow, statement: StatementShape | null): Issue[] {
  if (row.statement === null) {
    return spec.sql === undefined || spec.sql === "" ? [] : [{
      path: "sql",
      message: "Leave this empty; the service writes the statement",
    }];
  }
  if (statement === null) return [];
  const issues: Issue[] = [];
  if (statement.class !== row.statement) {
    issues.push({
      path: "sql",
      message: `Write a statement that ${doing[row.statement]}; this one ${doing[statement.class]}`,
    });
  } else if (row.statement === "write" && spec.output !== "rows_written" && !statement.returnsRows) {
    issues.push({ path: "sql", message: "Add RETURNING; the output needs a row" });
  }
  const bound = bindInputs(spec);
  // By name the two numbers are the same, unless an input is malformed, which is an issue already.
  const count = bound.ok && spec.input?.includes(null) === false
    ? bound.statements.reduce((sum, { inputs }) => sum + inputs.length, 0)
    : null;
  if (count !== null && count !== statement.parameterCount) {
    issues.push({
      path: "sql",
      message:
        `Have one input for each placeholder, in their order; placeholders: ${statement.parameterCount}, inputs that are bound: ${count}`,
    });
  }
  return issues;
}

interface WantedInput {
  readonly name: string;
  readonly types: readonly FieldSpec["type"][];
  /** `sent`: a caller must send it, and `not always`: the kind takes it together with some of the others. */
  readonly is: "sent" | "not always" | "optional";
}

const email = { name: "email", types: ["email"] } as const;
const password = { name: "password", types: ["text"] } as const;
const token = { name: "token", types: ["text"], is: "not always" } as const;
const wanted: Readonly<Partial<Record<EndpointSpec["kind"], readonly WantedInput[]>>> = {
  auth_signup: [{ ...email, is: "sent" }, { ...password, is: "sent" }],
  auth_login: [{ name: "email", types: ["email", "text"], is: "sent" }, { ...password, is: "sent" }],
  auth_password: [{ ...password, is: "sent" }, { ...password, name: "new_password", is: "sent" }],
  auth_logout: [{ name: "all", types: ["boolean"], is: "optional" }],
  auth_refresh: [],
  auth_reset: [{ ...email, is: "not always" }, token, { ...password, is: "not always" }],
  auth_verify: [{ ...email, is: "not always" }, token],
  ask: [{ name: "question", types: ["text"], is: "sent" }],
};
/** A signup may store more than the two. */
const takesOthers: ReadonlySet<string> = new Set(["auth_signup"]);

function requiredInputs({ kind, input }: SpecParts): Issue[] {
  const inputs = kind === undefined ? undefined : wanted[kind];
  if (inputs === undefined || kind === undefined || input === undefined) return [];
  const issues = inputs.flatMap((one) => inputIssues(kind, input, one));
  if (takesOthers.has(kind)) return issues;
  for (const [at, field] of input.entries()) {
    if (field === null || inputs.some(({ name }) => name === field.name)) continue;
    issues.push({ path: `input[${at}].name`, message: `Remove this input; ${kind} has no use for it` });
  }
  return issues;
}

function inputIssues(
  kind: EndpointSpec["kind"],
  input: NonNullable<SpecParts["input"]>,
  { name, types, is }: WantedInput,
): Issue[] {
  const at = input.findIndex((field) => field?.name === name);
  const field = input[at];
  if (!field) {
    if (is === "optional" || input.includes(null)) return [];
    const which = is === "sent" ? "required input" : "input";
    return [{ path: "input", message: `Add the ${which} ${name} (${types[0]})` }];
  }
  const issues: Issue[] = [];
  if (!types.includes(field.type)) {
    issues.push({ path: `input[${at}].type`, message: `Use ${types.join(" or ")} for ${name}` });
  }
  if (kind === "ask" && (field.maxLength ?? 0) > MAX_QUESTION_LENGTH) {
    issues.push({
      path: `input[${at}].maxLength`,
      message: `Send at most ${MAX_QUESTION_LENGTH}; a question is no longer`,
    });
  }
  if (is === "sent" && field.required !== true) {
    issues.push({ path: `input[${at}].required`, message: `Make ${name} required` });
  }
  if (is !== "sent" && (field.required === true || field.default !== undefined)) {
    issues.push({
      path: `input[${at}].${field.required === true ? "required" : "default"}`,
      message: `Remove this; ${kind} is called without ${name} too`,
    });
  }
  return issues;
}

type Tables = SchemaNames["tables"];

/**
 * Whether `authConfig` and `askConfig` stand where they belong, and the latter names what the database has. `raw`
 * tells a missing object from a malformed one, which has its own issues already.
 */
export function configIssues(spec: SpecParts, raw: unknown, tables: Tables): Issue[] {
  const { kind } = spec;
  if (kind === undefined) return [];
  const known = tables.filter(({ name, kind }) => kind !== "shadow" && !isReservedName(name));
  return [
    ...presenceIssue("authConfig", kinds[kind].config === "authConfig", raw),
    ...presenceIssue("askConfig", kinds[kind].config === "askConfig", raw),
    ...askIssues(spec, known),
  ];
}

function presenceIssue(name: "authConfig" | "askConfig", belongs: boolean, raw: unknown): Issue[] {
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
    tables.some((table) => sameName(table.name, name))
      ? []
      : [{ path: `askConfig.allowedTables[${at}]`, message: "Name a table or view of this database" }]
  );
}
