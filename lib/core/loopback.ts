// The names under which programs on a machine reach the machine itself.

/** As URLs write them. RFC 8252 lets programs listen there for their codes, on a port that they learn when they start. */
export const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Whether a host, without its port, is this machine: all of 127.0.0.0/8 is. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase();
  return LOOPBACK_NAMES.includes(name) || /^127(?:\.\d{1,3}){3}$/.test(name);
}
