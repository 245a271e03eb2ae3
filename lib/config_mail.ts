// The settings of mail, and that they come together.
import { forms } from "./config_forms.ts";
import { optional, row, secret } from "./config_row.ts";
import { ConfigError } from "./core/errors.ts";

/** Their rows in the table of settings. */
export const mailRows = {
  smtpUrl: secret(
    "SMTP_URL",
    forms.smtpUrl(),
    "Mail server for links that reset passwords and verify addresses",
  ),
  smtpFrom: optional("SMTP_FROM", forms.sender(), "Whom those mails are from; `SMTP_URL` needs it"),
  mailPerDay: row(
    "MAIL_PER_DAY",
    "1000",
    forms.wholeNumber(1, 1_000_000),
    "Such mails of one namespace in a UTC day",
  ),
} as const;

/** Throws `ConfigError` where only one of the two is set. */
export function checkMail(
  { smtpUrl, smtpFrom }: { readonly smtpUrl: unknown; readonly smtpFrom: unknown },
): void {
  if ((smtpUrl === null) === (smtpFrom === null)) return;
  const [missing, given] = smtpUrl === null ? ["SMTP_URL", "SMTP_FROM"] : ["SMTP_FROM", "SMTP_URL"];
  throw new ConfigError(`Set ${missing}; ${given} needs it`);
}
