// Clients whose id is the address of a document about them: it is read when it is needed, and counts for some minutes.
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { oauthLimits } from "../../core/oauth_limits.ts";
import { RecordCache } from "../../control/record_cache.ts";
import { type OauthClient, readClientMetadata } from "./client_metadata.ts";

/** Reads the document of an address; null when there is none. */
export type ReadDocument = (url: URL) => Promise<unknown>;

/** Loaded with the first client of this kind. */
async function readPublic(url: URL): Promise<unknown> {
  const { fetchPublicJson } = await import("../../guard/fetch_public_json.ts");
  const { documentBytes: maxBytes, documentMs: timeoutMs } = oauthLimits;
  return await fetchPublicJson(url, { maxBytes, timeoutMs });
}

/** The documents of one process. */
export class ClientDocuments {
  readonly #cache: RecordCache<OauthClient>;
  #reading = 0;

  constructor(clock: Clock, private readonly read: ReadDocument = readPublic) {
    this.#cache = new RecordCache(clock, {
      maxAgeMs: oauthLimits.documentAgeMs,
      maxEntries: oauthLimits.documents,
    });
  }

  /**
   * The client of an address. Errors: `too_many_requests`, `invalid_client` for what cannot be one or has no document about itself,
   * `invalid_redirect_uri` and `invalid_client_metadata` for what it says.
   */
  async find(address: string): Promise<OauthClient> {
    const url = documentUrl(address);
    const client = url && await this.#cache.read(address, async () => {
      const document = await this.#read(url);
      return saysItIs(document, address) ? { id: address, ...readClientMetadata(document) } : null;
    });
    if (client !== null) return client;
    throw new AppError("invalid_client", {
      message:
        "Check the client's address: within 5 seconds it has to answer a JSON document that names it as client_id, over https, without a redirect, on a public server",
    });
  }

  /** Anybody may make this service read: so it reads few at once. */
  async #read(url: URL): Promise<unknown> {
    if (this.#reading >= oauthLimits.documentsAtOnce) throw new AppError("too_many_requests");
    this.#reading++;
    try {
      return await this.read(url);
    } finally {
      this.#reading--;
    }
  }
}

/** Whether an id is meant as the address of a document. */
export function isDocumentAddress(clientId: string): boolean {
  return /^https?:/i.test(clientId);
}

/** An https address as it is written, on the usual port, with a path; null for anything else. */
function documentUrl(address: string): URL | null {
  if (address.length > oauthLimits.clientIdLength || !URL.canParse(address)) return null;
  const url = new URL(address);
  const plain = url.href === address && url.protocol === "https:" && url.port === "" && url.pathname !== "/";
  return plain && url.username === "" && url.password === "" && !address.includes("#") ? url : null;
}

/** Whoever else serves such a document does not speak for this client. */
function saysItIs(document: unknown, address: string): boolean {
  return typeof document === "object" && document !== null && "client_id" in document &&
    document.client_id === address;
}
