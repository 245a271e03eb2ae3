// What somebody has not touched in the form of an endpoint stays as it is: browsers send other line ends than they were given
// and none in a field of one line, and spaces around a name are taken away.
import type { EndpointSpec } from "../../../../lib/core/endpoint_spec.ts";
import { FormFields } from "../../frame/read_form.ts";
import { specIn, valuesOf } from "./endpoint_form.ts";

/** Fields of several lines. */
const MULTILINE = new RegExp(
  "^(?:description|sql|outputTypes|listKey|listFilters|cors|mail\\.text|allowedTables|context|input\\.\\d+\\.enum)$",
);

/** The specification that a form of an endpoint means, unchecked. `saved`: what the form was made of. */
export function specSent(fields: FormFields, saved: EndpointSpec): Record<string, unknown> {
  const untouched = Object.entries(valuesOf(saved)).map(([name, value]) => [name, asSent(name, value)]);
  const echo = specIn(new FormFields(new URLSearchParams(untouched)), saved.slug);
  return keptMembers(specIn(fields, saved.slug), echo, { ...saved });
}

/** A value as a browser sends it. */
function asSent(name: string, value: string): string {
  if (!MULTILINE.test(name)) return value.replace(/[\r\n]/g, "");
  return value.replace(/\r\n?/g, "\n").replace(/^\n/, "").replaceAll("\n", "\r\n");
}

type Members = Readonly<Record<string, unknown>>;

function keptMembers(sent: Members, echo: Members, saved: Members): Record<string, unknown> {
  // A form takes the spaces around a name away.
  const savedAs = new Map(Object.keys(saved).map((name) => [name.trim(), name]));
  const members = Object.entries(sent).map(([name, value]) => {
    const own = Object.hasOwn(saved, name) ? name : savedAs.get(name) ?? name;
    return Object.hasOwn(saved, own) ? [own, kept(value, echo[name], saved[own])] : [name, value];
  });
  return Object.fromEntries(members);
}

/** What is saved where what was sent is its echo, and so for each member. */
function kept(sent: unknown, echo: unknown, saved: unknown): unknown {
  if (JSON.stringify(sent) === JSON.stringify(echo)) return saved;
  if (Array.isArray(sent) && Array.isArray(echo) && Array.isArray(saved)) {
    // A name with a line end is several lines.
    return echo.length === saved.length ? keptList(sent, echo, saved) : sent;
  }
  return isMembers(sent) && isMembers(echo) && isMembers(saved) ? keptMembers(sent, echo, saved) : sent;
}

/** Lines that somebody has not touched are found again between others; of those that are left, the one at the same place counts. */
function keptList(
  sent: readonly unknown[],
  echo: readonly unknown[],
  saved: readonly unknown[],
): readonly unknown[] {
  const left = new Map(echo.map((one, at) => [at, JSON.stringify(one)]));
  const found = sent.map((one) => {
    const text = JSON.stringify(one);
    const [at] = left.entries().find(([, own]) => own === text) ?? [];
    return at !== undefined && left.delete(at) ? at : null;
  });
  return sent.map((one, at) => {
    const own = found[at] ?? (left.has(at) ? at : null);
    return own === null ? one : kept(one, echo[own], saved[own]);
  });
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
