// Captchas of providers with the siteverify protocol: Turnstile, hCaptcha, reCAPTCHA. When the provider does not
// answer, nobody passes.
import { z } from "zod";
import { AppError } from "../core/errors.ts";
import { type Captcha, MAX_CAPTCHA_TOKEN } from "./captcha.ts";

/** The providers by name. */
export type SiteverifyProvider = "turnstile" | "hcaptcha" | "recaptcha";

/** The operator's settings and the process's `fetch`. */
export interface SiteverifyParts {
  readonly provider: SiteverifyProvider;
  readonly siteKey: string;
  readonly secret: string;
  readonly fetch: typeof fetch;
}

const addresses: Readonly<Record<SiteverifyProvider, string>> = {
  turnstile: "https://challenges.cloudflare.com/turnstile/v0/siteverify",
  hcaptcha: "https://api.hcaptcha.com/siteverify",
  recaptcha: "https://www.google.com/recaptcha/api/siteverify",
};

/** Milliseconds that a caller waits for the provider. */
const TIMEOUT_MS = 5000;

const verdict = z.object({ success: z.boolean(), "error-codes": z.array(z.string()).optional() });
/** Error codes about the site's settings or the provider, not about the visitor. */
const OTHERS_FAULT = /input-secret|sitekey|internal-error|bad-request/;

/** The captcha of one provider. */
export function captchaSiteverify({ provider, siteKey, secret, fetch }: SiteverifyParts): Captcha {
  return {
    challenge: () => Promise.resolve({ provider, siteKey }),
    verify: async (_scope, token) => {
      if (token.length > MAX_CAPTCHA_TOKEN) return false;
      const body = new URLSearchParams({ secret, response: token, sitekey: siteKey });
      const answer = await ask(fetch, addresses[provider], body);
      if (answer.success) return true;
      if (answer["error-codes"]?.some((code) => OTHERS_FAULT.test(code))) {
        throw new AppError("captcha_unavailable");
      }
      return false;
    },
  };
}

async function ask(
  request: typeof fetch,
  address: string,
  body: URLSearchParams,
): Promise<z.output<typeof verdict>> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await request(address, { method: "POST", body, signal, redirect: "error" });
    const text = await response.text();
    if (response.ok) return verdict.parse(JSON.parse(text));
  } catch {
    // Whatever failed: without an answer nobody passes.
  }
  throw new AppError("captcha_unavailable");
}
