// The seam behind which a captcha is checked: the embedded proof of work, or a provider's siteverify.

/** The embedded provider's captchas are for one endpoint: one solved for another does not count. */
export interface CaptchaScope {
  readonly databaseId: string;
  readonly slug: string;
}

/** One provider. */
export interface Captcha {
  /** What the page's widget needs, as JSON. */
  challenge(scope: CaptchaScope): Promise<unknown>;
  /** Whether the token is good and had not counted yet. Errors: `captcha_unavailable`, `meter_unreachable`. */
  verify(scope: CaptchaScope, token: string): Promise<boolean>;
}

/** Characters of a captcha token: all providers stay far below. */
export const MAX_CAPTCHA_TOKEN = 8192;
