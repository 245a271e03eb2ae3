// The addresses of links that count once. Each is a page with a button: looking at it uses nothing up.

/** Where an invited member comes in. */
export function inviteUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/console/-/invite/${token}`;
}

/** Where the first admin comes in. */
export function startUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/console/-/start/${token}`;
}
