// A control plane on an in-memory KV with a clock that can be turned, and ready records for it.
import { newToken, tokenHash } from "../../lib/access/token_format.ts";
import { ControlPlane } from "../../lib/control/control_plane.ts";
import { newId } from "../../lib/core/ids.ts";
import type { DatabaseRecord, NamespaceRecord, TokenRecord } from "../../lib/store/records.ts";
import { TurnableClock } from "./turnable_clock.ts";

export interface ControlWorld extends Disposable {
  readonly kv: Deno.Kv;
  readonly clock: TurnableClock;
  readonly control: ControlPlane;
  /** Another process on the same KV. */
  other(): ControlPlane;
  /** The same; `before` happens once, before its first commit and behind what that depends on was read. */
  meanwhile(before: () => Promise<unknown>): ControlPlane;
  namespace(slug?: string): Promise<NamespaceRecord>;
  database(namespaceId: string, slug?: string): Promise<DatabaseRecord>;
  /** An unscoped admin token for ever, unless told otherwise; the secret is beside the record. */
  token(namespaceId: string, more?: Partial<TokenRecord>): Promise<{ secret: string; record: TokenRecord }>;
}

export async function controlWorld(): Promise<ControlWorld> {
  const kv = await Deno.openKv(":memory:");
  const clock = new TurnableClock();
  const control = new ControlPlane(kv, clock);
  return {
    ...{ kv, clock, control },
    other: () => new ControlPlane(kv, clock),
    meanwhile: (before) => new ControlPlane(interrupted(kv, before), clock),
    namespace: async (slug = "acme") => {
      const record = { id: newId("ns", clock.now()), slug, name: slug, createdAt: clock.now() };
      if (!await control.namespaces.add(record, 0)) throw new Error(`${slug} is taken`);
      return record;
    },
    database: async (namespaceId, slug = "main") => {
      const record = databaseRecord(namespaceId, slug, clock.now());
      await control.databases.announce(record.id);
      const { ok } = await control.databases.add(record);
      if (!ok) throw new Error(`${slug} was not made`);
      return record;
    },
    token: async (namespaceId, more = {}) => {
      const secret = newToken("cub_live_");
      const record = tokenRecord(namespaceId, tokenHash(secret), clock.now(), more);
      if (!await control.tokens.add(record)) throw new Error("the namespace is gone");
      return { secret, record };
    },
    [Symbol.dispose]: () => kv.close(),
  };
}

/** A KV before whose first commit something else happens, behind what that depends on was read. */
export function interrupted(kv: Deno.Kv, before: () => Promise<unknown>): Deno.Kv {
  let waits = true;
  const atomic = () => {
    const operation = kv.atomic();
    const commit = operation.commit.bind(operation);
    operation.commit = async () => {
      const first = waits;
      waits = false;
      if (first) await before();
      return await commit();
    };
    return operation;
  };
  return new Proxy(kv, {
    get: (target, name) => {
      const found = Reflect.get(target, name);
      if (name === "atomic") return atomic;
      return typeof found === "function" ? found.bind(target) : found;
    },
  });
}

export function databaseRecord(namespaceId: string, slug: string, nowMs: number): DatabaseRecord {
  return { id: newId("db", nowMs), slug, name: slug, namespaceId, branchRef: "main", createdAt: nowMs };
}

function tokenRecord(
  namespaceId: string,
  hash: string,
  now: number,
  more: Partial<TokenRecord>,
): TokenRecord {
  return {
    ...{ id: newId("tok", now), hash, name: "test", namespaceId, role: "admin", scopes: [] },
    ...{ createdAt: now, expiresAt: null },
    ...more,
  };
}
