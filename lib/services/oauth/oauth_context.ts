// What the services of OAuth need of the process.
import type { ControlPlane } from "../../control/control_plane.ts";
import type { KeyedHashes } from "../../control/keyed_hashes.ts";
import type { RateCounters } from "../../control/rate_counters.ts";
import type { Clock } from "../../core/clock.ts";
import type { ClientDocuments } from "./client_documents.ts";

/** Parts of the process. */
export interface OauthContext {
  readonly control: ControlPlane;
  readonly clock: Clock;
  /** Prefix of absolute URLs: the issuer. */
  readonly baseUrl: string;
  readonly hashes: KeyedHashes;
  readonly rateCounters: RateCounters;
  readonly documents: ClientDocuments;
}
