// The address that a request comes from, when there are proxies in between.
import { type AddressKey, addressKey } from "./address_key.ts";

/** The unit that counts every request of unknown origin. */
const UNKNOWN: AddressKey = { high: 2, low: 0 };

/** What is known about the origin of a request. */
export interface ClientAddressInput {
  /** The other end of the socket, if it has an address. */
  readonly socketAddress: string | null;
  /** The header as received. */
  readonly forwardedFor: string | null;
  /**
   * Our proxies in front. Each appends the address that it saw, so only that many entries from the right are
   * trustworthy.
   */
  readonly trustedHops: number;
}

/**
 * The unit by which the client is counted. Entries further left than the trusted ones come from the client and are
 * ignored; a trusted entry that is no address counts as the socket's.
 */
export function clientAddress(input: ClientAddressInput): AddressKey {
  const socket = input.socketAddress === null ? null : addressKey(input.socketAddress);
  if (input.trustedHops === 0 || input.forwardedFor === null) return socket ?? UNKNOWN;
  const entries = input.forwardedFor.split(",");
  const entry = entries[Math.max(0, entries.length - input.trustedHops)] ?? "";
  return addressKey(withoutPort(entry.trim())) ?? socket ?? UNKNOWN;
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  if (entry.startsWith("[")) return entry.slice(1, entry.indexOf("]"));
  const colon = entry.indexOf(":");
  return colon > 0 && colon === entry.lastIndexOf(":") ? entry.slice(0, colon) : entry;
}
