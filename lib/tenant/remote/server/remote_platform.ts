// What a server of libSQL databases must offer to hold tenants: sqld by its admin API, Turso by its platform API.
import type { HranaEndpoint } from "../hrana/hrana_client.ts";

/** A location is the name of one database on the server: lower-case letters, digits and hyphens, at most 64. */
export interface RemotePlatform {
  /** The setting whose secret is refused where the data of a location is. */
  readonly dataSecret: "TENANTS_JWT_KEY" | "TENANTS_TOKEN";
  /** Where a location answers, with a token of that one mode where the server takes tokens. */
  endpoint(location: string, mode: "read" | "write"): HranaEndpoint | Promise<HranaEndpoint>;
  /**
   * What `endpoint` has given was not accepted. True: the next one is another. `expiredMs`: the server's time in unix
   * milliseconds, where it called the token too old.
   */
  refused(
    location: string,
    mode: "read" | "write",
    endpoint: HranaEndpoint,
    expiredMs: number | null,
  ): boolean;
  /** Makes an empty location; one that is there already is left as it is. Throws `RemoteFailure`. */
  create(location: string): Promise<void>;
  /** Times that a copy is tried; unless given, once. Each try makes a location of its own. */
  readonly copyTries?: number;
  /** Makes `to`, which is not there, a copy of what `from` has committed. `attempt`: from 0. Throws `RemoteFailure`. */
  fork(from: string, to: string, attempt?: number): Promise<void>;
  /** Removes a location; one that is not there is fine. Throws `RemoteFailure`, in time. */
  remove(location: string, timeoutMs: number): Promise<void>;
  /** Refuses reads or writes from now on, whoever sends them: they fail as `blocked`. Throws `RemoteFailure`. */
  block(location: string, blocked: { readonly reads: boolean; readonly writes: boolean }): Promise<void>;
  /** What has become of the way in which locations are made, asked about one that is there; absent: it is not asked. */
  strain?(location: string): Promise<"admin_refused" | "admin_unreachable" | null>;
  /** Gives up what is still under way. */
  close?(): void;
}
