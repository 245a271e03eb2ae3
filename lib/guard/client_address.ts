// Which address a request comes from, when proxies stand in between.
import { type AddressKey, addressKey } from "./address_key.ts";

/** Where every request of unknown origin is counted. */
const UNKNOWN: AddressKey = { high: 2, low: 0 };

export interface ClientAddressInput {
  /** The other end of the socket, if it has an address. */
  readonly socketAddress: string | null;
  /** The header as received. */
  readonly forwardedFor: string | null;
  /** Proxies of ours in front: each appends the address that it saw, so only that many entries from the right are true. */
  readonly trustedHops: number;
}

/**
 * The client's unit of counting. Entries further left than the trusted hops are whatever the client wrote and are
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
