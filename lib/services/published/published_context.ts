// What published endpoints need of the process, and one call of an endpoint on its way through the steps.
import type { SessionClaims } from "../../access/verify_session.ts";
import type { PasswordHasher } from "../../access/password_hash.ts";
import type { ControlPlane } from "../../control/control_plane.ts";
import type { KeyedHashes } from "../../control/keyed_hashes.ts";
import type { LoginGuesses } from "../../control/login_guesses.ts";
import type { RateCounters } from "../../control/rate_counters.ts";
import type { Clock } from "../../core/clock.ts";
import type { AddressKey } from "../../guard/address_key.ts";
import type { Captcha } from "../../guard/captcha.ts";
import type { CallReplay, QueryContext, QueryMeta, QueryTarget } from "../../query/query_call.ts";
import type { RowForm } from "../../sql/words/row_form.ts";
import type { EndpointRecord } from "../../store/records.ts";
import type { MailQueue } from "../mail/mail_queue.ts";
import type { FoldedRefusals } from "./folded_refusals.ts";
import type { AskModel } from "../ask/model/ask_model.ts";

/** The parts of the process that serve published endpoints. */
export interface PublishedContext {
  readonly control: ControlPlane;
  readonly query: QueryContext;
  readonly clock: Clock;
  readonly rateCounters: RateCounters;
  readonly captcha: Captcha;
  readonly hashes: KeyedHashes;
  readonly passwords: PasswordHasher;
  readonly guesses: LoginGuesses;
  readonly askModel: AskModel;
  /** Null: there is no mail server. */
  readonly mail: MailQueue | null;
  readonly refusals: FoldedRefusals;
}

/** An endpoint and the database that it runs in. */
export interface ResolvedEndpoint {
  readonly record: EndpointRecord;
  /** Its role is the one that the endpoint's kind needs, and no higher one. */
  readonly target: QueryTarget;
}

/** One request as the steps see it. */
export interface PublishedRequest {
  readonly namespaceSlug: string;
  /** `<slug>` or `<slug>@<ref>`. */
  readonly databasePath: string;
  readonly slug: string;
  readonly method: string;
  /** With the query string. */
  readonly url: string;
  readonly headers: Headers;
  /** Reads the body when a step asks for it. Errors: `payload_too_large`, `request_timeout`, `invalid_json`. */
  readonly body: () => Promise<string>;
  /** As `body`, undecoded; one of the two may be read. Errors: `payload_too_large`, `request_timeout`. */
  readonly bytes: () => Promise<Uint8Array>;
  /** Errors: `validation_failed` naming the header. */
  readonly rowForm: () => RowForm;
  /** The unit by which clients are counted. */
  readonly address: AddressKey;
  readonly signal: () => AbortSignal | null;
}

/** An answer of `/p`. */
export interface PublishedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text or bytes, or null for answers without a body. */
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

/** One call whose input fits the specification. */
export interface EndpointCall {
  readonly record: EndpointRecord;
  readonly target: QueryTarget;
  readonly session: SessionClaims | null;
  /** Names the caller in the query log and the audit trail. */
  readonly tokenId: string;
  /** Null: the same call runs again. */
  readonly replay: CallReplay | null;
  /** For the rows that the caller gets. Keys that sign-up and log-in read stay as they are. */
  readonly rowForm: RowForm;
  /** The (hashed) address of the caller. */
  readonly client: string;
  readonly signal: () => AbortSignal | null;
}

/** What a call came to. */
export interface EndpointOutcome {
  /** The bare body: JSON text, or the bytes of the output `bytes`. */
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** The user who signed up or logged in, or whose session it is. */
  readonly userId: string | null;
  /** True: this is the stored answer of an earlier call. */
  readonly replayed?: boolean;
  /** Null where nothing ran. */
  readonly meta: QueryMeta | null;
}
