// The seam behind which a captcha is checked: embedded proof of work, or a provider's siteverify.

/** Of the embedded provider: a captcha solved for one endpoint does not count at another. */
export interface CaptchaScope {
  readonly databaseId: string;
  readonly slug: string;
}

export interface Captcha {
  /** What the page's widget needs, as JSON. */
  challenge(scope: CaptchaScope): Promise<unknown>;
  /** Whether the token is good and had not counted yet. Errors: `captcha_unavailable`, `meter_unreachable`. */
  verify(scope: CaptchaScope, token: string): Promise<boolean>;
}

/** Characters of a captcha token: all providers stay far below. */
export const MAX_CAPTCHA_TOKEN = 8192;
