// The part of a generated client that solves the captcha which the service makes itself, for databases that ask for one.

/** TypeScript source, which stands behind `clientRuntime`. */
export const captchaSource = `
/**
 * Solves the captcha of an endpoint, about half a second's work: for the header of its next call, once. Where a provider
 * makes the captcha, its own widget in the page gives the token instead.
 */
export async function solveCaptcha(slug: string, options: ClientOptions = {}): Promise<string> {
  if (crypto.subtle === undefined) throw new TypeError("Serve the page by https, or from localhost: browsers solve captchas nowhere else");
  const response = await (options.fetch ?? fetch)((options.url ?? URL_OF_DATABASE) + "/" + slug + "/captcha");
  const challenge = jsonOf(response, await response.text());
  if (!response.ok) throw new EndpointError(response.status, challenge, response.headers);
  const { algorithm, nonce, salt, cost, keyLength = 32, keyPrefix } = challenge.parameters ?? {};
  if (algorithm !== "PBKDF2/SHA-256") throw new TypeError("Show the widget of the captcha's provider; it gives the token");
  const password = new Uint8Array([...bytesOf(nonce), 0, 0, 0, 0]);
  for (let counter = 0;; counter++) {
    new DataView(password.buffer).setUint32(password.length - 4, counter);
    const key = await crypto.subtle.importKey("raw", password, "PBKDF2", false, ["deriveBits"]);
    const how = { name: "PBKDF2", hash: "SHA-256", salt: bytesOf(salt), iterations: cost };
    const derived = new Uint8Array(await crypto.subtle.deriveBits(how, key, keyLength * 8));
    const derivedKey = Array.from(derived, (byte) => byte.toString(16).padStart(2, "0")).join("");
    if (derivedKey.startsWith(keyPrefix)) return btoa(JSON.stringify({ challenge, solution: { counter, derivedKey } }));
  }
}

function bytesOf(hex: string) {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}
`;
