// The control plane of one process: every kind of record over one Deno KV.
import type { Clock } from "../core/clock.ts";
import { AccountTokens } from "./account_tokens.ts";
import { Audit, type AuditOptions } from "./audit.ts";
import { Branches } from "./branches.ts";
import { ChangeTickets } from "./change_tickets.ts";
import { ConsoleSessions } from "./console_sessions.ts";
import { Databases } from "./databases.ts";
import { Endpoints } from "./endpoints.ts";
import { Handoffs } from "./handoffs.ts";
import { Leftovers } from "./leftovers.ts";
import { Members } from "./members.ts";
import { Namespaces } from "./namespaces.ts";
import { OauthClients } from "./oauth_clients.ts";
import { OauthGrants } from "./oauth_grants.ts";
import { OneTimeLinks } from "./one_time_links.ts";
import { Passkeys } from "./passkeys.ts";
import { Rules } from "./rules.ts";
import { SessionEnds } from "./session_ends.ts";
import { SessionKeys } from "./session_keys.ts";
import { TokenUses } from "./token_uses.ts";
import { Tokens } from "./tokens.ts";
import { Webhooks } from "./webhooks.ts";

/** All records of one KV. */
export class ControlPlane {
  readonly namespaces: Namespaces;
  readonly databases: Databases;
  readonly branches: Branches;
  readonly tokens: Tokens;
  readonly tokenUses: TokenUses;
  readonly handoffs: Handoffs;
  readonly changeTickets: ChangeTickets;
  readonly webhooks: Webhooks;
  readonly sessionKeys: SessionKeys;
  readonly sessionEnds: SessionEnds;
  readonly accountTokens: AccountTokens;
  readonly leftovers: Leftovers;
  readonly endpoints: Endpoints;
  readonly rules: Rules;
  readonly audit: Audit;
  readonly consoleSessions: ConsoleSessions;
  readonly members: Members;
  readonly passkeys: Passkeys;
  readonly links: OneTimeLinks;
  readonly oauthClients: OauthClients;
  readonly oauthGrants: OauthGrants;

  constructor(kv: Deno.Kv, clock: Clock, audited?: AuditOptions) {
    this.audit = new Audit(kv, audited);
    this.namespaces = new Namespaces(kv, clock);
    this.databases = new Databases(kv, clock);
    this.branches = new Branches(kv, clock);
    this.tokens = new Tokens(kv, clock, this.namespaces);
    this.tokenUses = new TokenUses(kv, clock);
    this.handoffs = new Handoffs(kv, clock);
    this.changeTickets = new ChangeTickets(kv, clock);
    this.webhooks = new Webhooks(kv);
    this.sessionKeys = new SessionKeys(kv, clock);
    this.sessionEnds = new SessionEnds(kv, clock);
    this.accountTokens = new AccountTokens(kv, clock);
    this.leftovers = new Leftovers(kv, clock);
    this.endpoints = new Endpoints(kv, clock);
    this.rules = new Rules(kv, clock);
    this.consoleSessions = new ConsoleSessions(kv, clock, this.namespaces);
    this.passkeys = new Passkeys(kv, clock);
    const parts = { sessions: this.consoleSessions, passkeys: this.passkeys, tokens: this.tokens };
    this.members = new Members(kv, parts);
    this.links = new OneTimeLinks(kv, clock, parts);
    this.oauthClients = new OauthClients(kv, clock);
    this.oauthGrants = new OauthGrants(kv, clock, this.tokens);
  }
}
