// Codes and refresh tokens of OAuth: each counts once, in one commit with the token that it gives. The token is the
// connection: it keeps its id while its secret changes every hour, so that whatever is bound to it stays good. A code or
// refresh token that comes a second time ends the connection, because one of the two who sent it has stolen it. A
// refresh token that comes again at once is left alone: clients renew for each of the calls that they make side by side.
import type { Clock } from "../core/clock.ts";
import { oauthLimits } from "../core/oauth_limits.ts";
import { keys } from "../store/keys.ts";
import type { Key } from "../store/key.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import type {
  OauthClientRecord,
  OauthCodeRecord,
  OauthRefreshRecord,
  OauthSpentRecord,
} from "../store/oauth_records.ts";
import type { TokenRecord } from "../store/records.ts";
import { type Also, FASTER, nothingElse, untilCommitted } from "../store/until_committed.ts";
import { lineageOf, MAX_LINEAGE, tokenKeys, tokenLineage } from "./token_records.ts";
import type { Tokens } from "./tokens.ts";

/** What became of a code or refresh token. */
export type SpendOutcome =
  | { readonly ok: true; readonly token: TokenRecord }
  | { readonly ok: false; readonly reason: "unknown" | "misused" | "giver_gone" }
  /** It came a second time, which ends its token. */
  | { readonly ok: false; readonly reason: "reused" };

/** The hashes of two new secrets. */
export interface NewSecrets {
  readonly accessHash: string;
  readonly refreshHash: string;
}

/** What is to happen with a change of a connection, or not at all. */
export interface AlsoConnection {
  readonly connected?: Also<[TokenRecord]>;
  /** It was sent twice. */
  readonly ended?: Also<[TokenRecord]>;
}

/** Every method's errors: `meter_unreachable`. Hashes are SHA-256, hex. `also`: what is to happen with it, or not at all. */
export class OauthGrants {
  constructor(
    private readonly kv: Deno.Kv,
    private readonly clock: Clock,
    private readonly tokens: Tokens,
  ) {}

  /** Adds a code; false when whoever gave it is gone or has changed meanwhile, or can give nothing on. */
  async addCode(
    hash: string,
    code: Omit<OauthCodeRecord, "untilMs">,
    also: Also = nothingElse,
  ): Promise<boolean> {
    return await untilCommitted(async () => {
      const nowMs = this.clock.now();
      const line = await lineageOf(this.kv, code.grant, { namespaceId: code.grant.namespaceId, nowMs });
      if (line === null || line.tokens.length === MAX_LINEAGE) return false;
      const expireIn = oauthLimits.codeMs;
      const addition = this.kv.atomic().check(...line.checks)
        .set(keys.oauthCode(hash), { ...code, untilMs: nowMs + expireIn }, { expireIn });
      return await kvCommit(also(addition)) ? true : FASTER;
    });
  }

  /**
   * Exchanges a code for a token with the id `tokenId`. A code that does not fit is used up: it was in the wrong hands.
   */
  async redeemCode(
    hash: string,
    { fits, tokenId, secrets, also = {} }: {
      readonly fits: (code: OauthCodeRecord) => boolean;
      readonly tokenId: string;
      readonly secrets: NewSecrets;
      readonly also?: AlsoConnection;
    },
  ): Promise<SpendOutcome> {
    return await untilCommitted(async () => {
      const nowMs = this.clock.now();
      const entry = await kvGet(this.kv, keys.oauthCode(hash));
      if (entry.value === null) return await this.#again(hash, also);
      if (entry.value.untilMs <= nowMs) return { ok: false, reason: "unknown" };
      const use = this.kv.atomic().check(entry).delete(entry.key);
      if (!fits(entry.value)) return await kvCommit(use) ? { ok: false, reason: "misused" } : FASTER;
      const { client, ...grant } = entry.value.grant;
      const { namespaceId } = grant;
      const [namespace, line, registration] = await Promise.all([
        kvGet(this.kv, keys.namespace(namespaceId)),
        lineageOf(this.kv, grant, { namespaceId, nowMs }),
        kvGet(this.kv, keys.oauthClient(client.id)),
      ]);
      if (namespace.versionstamp === null || line === null) return { ok: false, reason: "giver_gone" };
      const base = { ...grant, id: tokenId, name: client.name, client, createdAt: nowMs };
      const token = withSecret(base, { secrets, parent: line.tokens[0]?.value, nowMs });
      use.check(namespace, ...line.checks);
      also.connected?.(use, token);
      return await kvCommit(this.#spend(use, { hash, token, secrets, nowMs, registration }))
        ? { ok: true, token }
        : FASTER;
    });
  }

  /**
   * Exchanges a refresh token of that client for new secrets of its token. `secrets` are the same for the same refresh
   * token, so that its client gets them again for some seconds, as long as it has not used the next one.
   */
  async rotate(
    hash: string,
    { clientId, secrets, also = {} }: {
      readonly clientId: string;
      readonly secrets: NewSecrets;
      readonly also?: AlsoConnection;
    },
  ): Promise<SpendOutcome> {
    return await untilCommitted(async () => {
      const nowMs = this.clock.now();
      const entry = await kvGet(this.kv, keys.oauthRefresh(hash));
      if (entry.value === null) {
        return await this.#repeated(secrets, { clientId, nowMs }) ?? await this.#again(hash, also);
      }
      if (entry.value.untilMs <= nowMs) return { ok: false, reason: "unknown" };
      if (entry.value.clientId !== clientId) return { ok: false, reason: "misused" };
      const { namespaceId, tokenId } = entry.value;
      const line = await tokenLineage(this.kv, { namespaceId, tokenId, nowMs });
      const registration = await kvGet(this.kv, keys.oauthClient(clientId));
      const [current, parent] = line?.tokens ?? [];
      if (line === null || current === undefined) return { ok: false, reason: "giver_gone" };
      const token = withSecret(current.value, { secrets, parent: parent?.value, nowMs });
      const use = this.kv.atomic().check(entry, ...line.checks).delete(entry.key);
      const repeatUntilMs = nowMs + oauthLimits.repeatMs;
      return await kvCommit(this.#spend(use, { hash, token, secrets, nowMs, registration, repeatUntilMs }))
        ? { ok: true, token }
        : FASTER;
    });
  }

  /** Reads a refresh token without using it. */
  async findRefresh(hash: string): Promise<OauthRefreshRecord | null> {
    const { value } = await kvGet(this.kv, keys.oauthRefresh(hash));
    return value === null || value.untilMs <= this.clock.now() ? null : value;
  }

  /** The connection of a refresh token, whether or not that has been used. */
  async findConnection(hash: string): Promise<OauthSpentRecord | null> {
    return await this.findRefresh(hash) ?? (await kvGet(this.kv, keys.oauthSpent(hash))).value;
  }

  /** Adds the token with its new secrets, the trace of the old one, and that its client is in use. */
  #spend(
    use: Deno.AtomicOperation,
    { hash, token, secrets, nowMs, registration, ...repeat }: {
      readonly hash: string;
      readonly token: TokenRecord;
      readonly secrets: NewSecrets;
      readonly nowMs: number;
      readonly registration: Deno.KvEntryMaybe<OauthClientRecord>;
      readonly repeatUntilMs?: number;
    },
  ): Deno.AtomicOperation {
    const { refreshMs, clientMs } = oauthLimits;
    const { namespaceId, id: tokenId } = token;
    const untilMs = token.expiresAt ?? nowMs + refreshMs;
    const refresh = { namespaceId, tokenId, clientId: token.client?.id ?? "", untilMs, ...repeat };
    use.set(keys.oauthSpent(hash), { namespaceId, tokenId }, { expireIn: refreshMs })
      .set(keys.oauthRefresh(secrets.refreshHash), refresh, { expireIn: Math.max(1, untilMs - nowMs) });
    if (registration.value !== null) {
      const used = { ...registration.value, untilMs: nowMs + clientMs };
      use.set(registration.key, used, { expireIn: clientMs });
    }
    return tokenKeys.set(use, token, nowMs);
  }

  /** The token as it was renewed a moment ago; null where that was not by these secrets, too long ago, or used since. */
  async #repeated(
    { refreshHash }: NewSecrets,
    { clientId, nowMs }: { readonly clientId: string; readonly nowMs: number },
  ): Promise<SpendOutcome | null> {
    const { value: next } = await kvGet(this.kv, keys.oauthRefresh(refreshHash));
    if (next?.repeatUntilMs === undefined || next.repeatUntilMs <= nowMs || next.clientId !== clientId) {
      return null;
    }
    const { namespaceId, tokenId } = next;
    const [current] = (await tokenLineage(this.kv, { namespaceId, tokenId, nowMs }))?.tokens ?? [];
    return current === undefined ? { ok: false, reason: "giver_gone" } : { ok: true, token: current.value };
  }

  /** What was used goes in the same commit in which its trace comes: whoever finds neither has invented it. */
  async #again(hash: string, { ended }: AlsoConnection): Promise<SpendOutcome> {
    const key: Key<OauthSpentRecord> = keys.oauthSpent(hash);
    const { value: spent } = await kvGet(this.kv, key);
    if (spent === null) return { ok: false, reason: "unknown" };
    const { namespaceId, tokenId } = spent;
    await this.tokens.remove(namespaceId, tokenId, ended);
    return { ok: false, reason: "reused" };
  }
}

/** The token with its next secret. It ends when its refresh token does, and with its parent at the latest. */
function withSecret(
  token: Omit<TokenRecord, "hash" | "expiresAt" | "audience" | "secretUntilMs">,
  { secrets, parent, nowMs }: {
    readonly secrets: NewSecrets;
    readonly parent: TokenRecord | undefined;
    readonly nowMs: number;
  },
): TokenRecord {
  const expiresAt = Math.min(nowMs + oauthLimits.refreshMs, parent?.expiresAt ?? Infinity);
  return {
    ...token,
    hash: secrets.accessHash,
    audience: "mcp",
    expiresAt,
    secretUntilMs: Math.min(nowMs + oauthLimits.accessMs, expiresAt),
  };
}
