// A typed TypeScript client of a database's published endpoints: one file, nothing but fetch behind it.
import type { EndpointSpec } from "../../../core/endpoint_spec.ts";
import type { SchemaFacts } from "../../schema/schema_facts.ts";
import { clientRuntime } from "./client_runtime.ts";
import { inputMembers } from "./input_type.ts";
import { outputType } from "./output_type.ts";
import { commentText } from "./source_text.ts";
import { ClientNames, typeName } from "./type_names.ts";

export interface ClientInput {
  /** `<namespace>/<database>`. */
  readonly title: string;
  /** Where the endpoints are served, without a slash at the end. */
  readonly url: string;
  readonly specs: readonly EndpointSpec[];
  readonly schema: SchemaFacts;
}

export function clientSource({ title, url, specs, schema }: ClientInput): string {
  const names = new ClientNames();
  const parts = specs.map((spec) => endpointSource(spec, names.method(spec.slug), schema));
  return `// Client of ${title}, made from its published endpoints. It needs nothing but fetch.

${clientRuntime(url)}
${parts.map(({ types }) => types).join("\n")}
/** The endpoints of ${title}, one method each. */
export function createClient(options: ClientOptions = {}) {
  const send = sender(options);
  return {
${parts.map(({ method }) => method).join("\n")}
  };
}
`;
}

function endpointSource(
  spec: EndpointSpec,
  name: string,
  schema: SchemaFacts,
): { readonly types: string; readonly method: string } {
  const members = inputMembers(spec);
  const input = `${typeName(name)}Input`;
  const output = `${typeName(name)}Output`;
  const optional = members.every((member) => /^ {2}\w+\?:/m.test(member));
  const about = commentText([spec.name, spec.description ?? ""].filter((text) => text !== "").join(": "));
  const call = spec.captcha === true ? "call: Call & { captcha: string }" : "call?: Call";
  // An argument that may be left out cannot stand before one that may not.
  const given = optional && spec.captcha !== true ? `input?: ${input}` : `input: ${input}`;
  return {
    types: [
      members.length === 0
        ? `export type ${input} = Record<string, never>;\n`
        : `export interface ${input} {\n${members.join("\n")}\n}\n`,
      `export type ${output} = ${outputType(spec, schema)};\n`,
    ].join(""),
    method: `    /** ${about} */
    ${name}: (${given}, ${call}): Promise<${output}> =>
      send(${JSON.stringify(spec.method)}, ${JSON.stringify(spec.slug)}, input ?? {}, call),`,
  };
}
