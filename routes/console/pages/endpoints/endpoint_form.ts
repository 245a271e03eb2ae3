// Between a specification and the fields of its form: everything that one can say the other can.
import type { EndpointSpec, FieldSpec } from "../../../../lib/core/endpoint_spec.ts";
import { jsonOf } from "../../../../lib/core/json_of.ts";
import type { FormFields } from "../../frame/read_form.ts";

/** Name of a field → what stands in it. */
export type FormValues = Readonly<Record<string, string>>;

/** Rows of the form for inputs that are to come. */
const SPARE_INPUTS = 2;
/** Inputs that a form may have. */
const MAX_INPUTS = 100;

/** What the form of a new endpoint begins with. */
export const newSpec: EndpointSpec = {
  slug: "",
  name: "",
  kind: "query",
  method: "GET",
  sql: "",
  input: [],
  output: "rows",
};

/** The fields of a specification. */
export function valuesOf(spec: EndpointSpec): FormValues {
  const { rateLimit, cors, authConfig, askConfig, input, captcha, outputTypes, list, ...rest } = spec;
  const values: Record<string, string> = {};
  const put = (name: string, value: string | number | undefined) => {
    if (value !== undefined) values[name] = String(value);
  };
  for (const [name, value] of Object.entries(rest)) if (typeof value !== "object") put(name, value);
  if (captcha === true) values["captcha"] = "yes";
  put("outputTypes", outputTypes && Object.entries(outputTypes).map((one) => one.join(" ")).join("\n"));
  put("listKey", list?.key.join("\n"));
  put(
    "listFilters",
    list?.filters?.map(({ input, is = "=", column }) => `${input} ${is} ${column}`).join("\n"),
  );
  put("perMin", rateLimit?.perMin);
  put("perDay", rateLimit?.perDay);
  put("cors", cors?.join("\n"));
  put("usersTable", authConfig?.usersTable);
  put("emailColumn", authConfig?.emailColumn);
  put("sessionTtlSec", authConfig?.sessionTtlSec);
  put("sessionTotalSec", authConfig?.sessionTotalSec);
  put("resetUrl", authConfig?.resetUrl);
  put("verifyUrl", authConfig?.verifyUrl);
  put("verifiedColumn", authConfig?.verifiedColumn);
  put("mail.subject", authConfig?.mail?.subject);
  put("mail.text", authConfig?.mail?.text);
  put("allowedTables", askConfig?.allowedTables.join("\n"));
  put("context", askConfig?.context);
  put("maxRows", askConfig?.maxRows);
  for (const [at, field] of input.entries()) {
    const { required, trim, enum: allowed, default: value, ...more } = field;
    for (const [name, one] of Object.entries(more)) put(nameIn(at, name), one);
    if (trim === true) values[nameIn(at, "trim")] = "yes";
    if (required === true) values[nameIn(at, "required")] = "yes";
    put(nameIn(at, "enum"), allowed?.map((one) => NO_LINE.test(one) ? JSON.stringify(one) : one).join("\n"));
    if (value !== undefined) put(nameIn(at, "default"), defaultText(value));
  }
  return values;
}

/** What a form that has come back shows: what was typed. Rows of inputs that were left empty are closed up. */
export function valuesTyped(fields: FormFields): FormValues {
  const rows = namedRows(fields);
  const renamed = [...fields.fields].flatMap(([name, value]): [string, string][] => {
    const [, row, member = ""] = /^input\.(\d+)\.(\w+)$/.exec(name) ?? [];
    if (row === undefined) return [[name, value]];
    const at = rows.indexOf(Number(row));
    return at < 0 ? [] : [[nameIn(at, member), value]];
  });
  return Object.fromEntries(renamed);
}

/** The name of a field of the input with this index. */
export function nameIn(at: number, name: string): string {
  return `input.${at}.${name}`;
}

/** How many inputs a form shows: those that it has or that its statement wants, and some to come. */
export function shownInputs(values: FormValues, wanted: number): number {
  const named = Array.from({ length: MAX_INPUTS }, (_, at) => (values[nameIn(at, "name")] ?? "") !== "");
  return Math.min(MAX_INPUTS, Math.max(wanted, named.lastIndexOf(true) + 1) + SPARE_INPUTS);
}

/**
 * The specification that a form means, unchecked. What is no number stays text, for the validator to refuse. `slug`: of
 * an endpoint that exists.
 */
export function specIn(fields: FormFields, slug?: string): Record<string, unknown> {
  const group = (members: Record<string, unknown>) => {
    const given = Object.entries(members).filter(([, value]) => value !== undefined);
    return given.length === 0 ? undefined : Object.fromEntries(given);
  };
  const usersTable = fields.optional("usersTable");
  const allowedTables = linesIn(fields, "allowedTables");
  return group({
    slug: slug ?? fields.text("slug"),
    name: fields.text("name"),
    description: fields.optional("description"),
    kind: fields.text("kind"),
    method: fields.text("method"),
    sql: fields.exact("sql"),
    input: inputsIn(fields),
    output: fields.text("output"),
    outputTypes: typesIn(fields),
    list: listIn(fields),
    contentType: fields.optional("contentType"),
    auth: fields.optional("auth"),
    rateLimit: group({ perMin: numberIn(fields, "perMin"), perDay: numberIn(fields, "perDay") }),
    captcha: fields.has("captcha") ? true : undefined,
    cors: linesIn(fields, "cors"),
    cacheSec: numberIn(fields, "cacheSec"),
    authConfig: usersTable === undefined ? undefined : group({
      usersTable,
      emailColumn: fields.optional("emailColumn"),
      passwordColumn: "password_hash",
      sessionTtlSec: numberIn(fields, "sessionTtlSec"),
      sessionTotalSec: numberIn(fields, "sessionTotalSec"),
      resetUrl: fields.optional("resetUrl"),
      verifyUrl: fields.optional("verifyUrl"),
      verifiedColumn: fields.optional("verifiedColumn"),
      mail: group({
        subject: fields.optional("mail.subject"),
        text: fields.exact("mail.text") || undefined,
      }),
    }),
    askConfig: allowedTables === undefined ? undefined : group({
      allowedTables,
      context: fields.optional("context"),
      maxRows: numberIn(fields, "maxRows"),
    }),
  }) ?? {};
}

/** Where issues of a specification stand in the form: `input[2].min` is `input.2.min`. */
export function fieldOfIssue(path: string): string {
  const plain = path.replace(/\[(\d+)\]/g, ".$1").replace(/^(?:authConfig|askConfig|rateLimit)\./, "");
  return plain === "input" || plain === "authConfig"
    ? "sql"
    : plain === "askConfig"
    ? "allowedTables"
    : plain === "list" || plain.startsWith("list.key")
    ? "listKey"
    : plain.startsWith("list.filters")
    ? "listFilters"
    : plain.startsWith("outputTypes.")
    ? "outputTypes"
    : plain;
}

/** Rows with a name: one without is none. */
function namedRows(fields: FormFields): number[] {
  return Array.from({ length: MAX_INPUTS }, (_, at) => at)
    .filter((at) => fields.text(nameIn(at, "name")) !== "");
}

function inputsIn(fields: FormFields): Record<string, unknown>[] {
  const rows = namedRows(fields);
  return rows.map((at) => {
    const own = (name: string) => nameIn(at, name);
    const members: Record<string, unknown> = {
      name: fields.text(own("name")),
      label: fields.optional(own("label")),
      type: fields.text(own("type")),
      required: fields.has(own("required")) ? true : undefined,
      // Spaces at an end mean themselves in both.
      pattern: fields.exact(own("pattern")) || undefined,
      enum: exactLinesIn(fields, own("enum"))?.map((line) => QUOTED.test(line) ? unquoted(line) : line),
      min: numberIn(fields, own("min")),
      max: numberIn(fields, own("max")),
      maxLength: numberIn(fields, own("maxLength")),
      minLength: numberIn(fields, own("minLength")),
      trim: fields.has(own("trim")) ? true : undefined,
      default: defaultIn(fields.exact(own("default"))),
    };
    return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
  });
}

/** `column type` a line; a name may hold spaces. */
function typesIn(fields: FormFields): Record<string, string> | undefined {
  const lines = linesIn(fields, "outputTypes")?.map((line): [string, string] => {
    const at = line.lastIndexOf(" ");
    return [line.slice(0, Math.max(0, at)).trim(), line.slice(at + 1)];
  });
  return lines && Object.fromEntries(lines);
}

/** `input = column` a line; without a key there is no list. */
function listIn(fields: FormFields): Record<string, unknown> | undefined {
  const key = linesIn(fields, "listKey");
  const filters = linesIn(fields, "listFilters")?.map((line) => {
    const [, input = line, is = "=", column = ""] = /^(\S+)\s+(>=|<=|=|>|<)\s+(\S[^]*)$/.exec(line) ?? [];
    return is === "=" ? { input, column } : { input, column, is };
  });
  if (key === undefined && filters === undefined) return undefined;
  return { key: key ?? [], ...(filters === undefined ? {} : { filters }) };
}

/** Without white space around them and empty ones; undefined where there is none. */
export function linesIn(fields: FormFields, name: string): string[] | undefined {
  return exactLinesIn(fields, name)?.map((line) => line.trim()).filter((line) => line !== "");
}

function exactLinesIn(fields: FormFields, name: string): string[] | undefined {
  const lines = fields.exact(name).split("\n").filter((line) => line !== "");
  return lines.length === 0 ? undefined : lines;
}

function numberIn(fields: FormFields, name: string): number | string | undefined {
  const text = fields.optional(name);
  if (text === undefined) return undefined;
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

/** A text stands as it is, unless it reads like another value, or is none that a line can hold: then in quotes, as in JSON. */
function defaultText(value: NonNullable<FieldSpec["default"]> | null): string {
  if (typeof value !== "string") return String(value);
  return OTHER.test(value) || NO_LINE.test(value) ? JSON.stringify(value) : value;
}

/** What is typed may be in quotes and no JSON: then it is what stands between them. */
function unquoted(text: string): string {
  const read = jsonOf(text);
  return typeof read === "string" ? read : text.slice(1, -1);
}

function defaultIn(text: string): string | number | boolean | null | undefined {
  if (text === "") return undefined;
  if (QUOTED.test(text)) return unquoted(text);
  if (!OTHER.test(text)) return text;
  if (text === "null") return null;
  return text === "true" || text === "false" ? text === "true" : Number(text);
}

const QUOTED = /^".*"$/s;
/** Without quotes a line could not be told from another text: empty ones, those of several lines, and those in quotes. */
const NO_LINE = /^$|[\r\n]|^".*"$/s;
/** What reads like a number, a boolean or NULL. */
const OTHER = /^(?:null|true|false|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
