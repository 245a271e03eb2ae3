// One spelling of an address.

/** As addresses of members are stored and found: no two members differ by spelling alone. */
export function normalEmail(email: string): string {
  return email.normalize("NFKC").trim().toLowerCase();
}
