// The control plane of one process: every kind of record over one Deno KV.
import type { Clock } from "../core/clock.ts";
import { Databases } from "./databases.ts";
import { Leftovers } from "./leftovers.ts";
import { Namespaces } from "./namespaces.ts";
import { Tokens } from "./tokens.ts";

export class ControlPlane {
  readonly namespaces: Namespaces;
  readonly databases: Databases;
  readonly tokens: Tokens;
  readonly leftovers: Leftovers;

  constructor(kv: Deno.Kv, clock: Clock) {
    this.namespaces = new Namespaces(kv, clock);
    this.databases = new Databases(kv, clock);
    this.tokens = new Tokens(kv, clock, this.namespaces);
    this.leftovers = new Leftovers(kv, clock);
  }
}
