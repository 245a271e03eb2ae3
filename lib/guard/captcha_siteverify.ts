// Captchas of providers with the siteverify protocol: Turnstile, hCaptcha, reCAPTCHA. A provider that does not answer
// is no free pass.
import { z } from "zod";
import { AppError } from "../core/errors.ts";
import { type Captcha, MAX_CAPTCHA_TOKEN } from "./captcha.ts";

export type SiteverifyProvider = "turnstile" | "hcaptcha" | "recaptcha";

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
/** These say that our side or theirs is wrong, not the visitor's. */
const OTHERS_FAULT = /input-secret|sitekey|internal-error|bad-request/;

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
    // Whatever it was: without an answer nobody is let in.
  }
  throw new AppError("captcha_unavailable");
}
