// The compose file as tests read it, and what a person exports before using it.
import { assert } from "@std/assert";
import { exportPKCS8, exportSPKI, generateKeyPair } from "jose";
import { parse } from "yaml";

export interface Service {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly ulimits?: { readonly nofile: { readonly soft: number; readonly hard: number } };
  readonly healthcheck: { readonly test: readonly string[]; readonly timeout: string };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

const FILE = new URL("../../.deploy/compose.yaml", import.meta.url);
export const { services, volumes }: { services: Record<string, Service>; volumes: Record<string, null> } =
  parse(
    await Deno.readTextFile(FILE),
    { merge: true },
  );
export const instances = Object.entries(services).filter(([name]) => name.startsWith("instance-"));

export function service(name: string): Service {
  const found = services[name];
  assert(found !== undefined, name);
  return found;
}

/** Names that have to be exported, in `${NAME:?}`, with what a person would put there. */
export function filled(
  environment: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value.replace(/\$\{(\w+)(?::-(.*)|:\?)\}/, (_, variable, preset) => given[variable] ?? preset ?? ""),
    ]),
  );
}

export async function keyPair(): Promise<{ readonly secret: string; readonly open: string }> {
  const pair = await generateKeyPair("EdDSA", { extractable: true });
  return { secret: await exportPKCS8(pair.privateKey), open: await exportSPKI(pair.publicKey) };
}

/** The arguments of sqld but for place and ports, which `startSqld` chooses, with the public key where it is. */
export function sqldArguments(publicKey: string): string[] {
  return service("sqld").command
    .filter((part) => !/^--(db-path|http-listen-addr|admin-listen-addr|no-welcome)/.test(part))
    .map((part) => part.replace("/keys/jwt.pub", publicKey));
}
