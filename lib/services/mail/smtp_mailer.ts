// Sends mails to an SMTP server, by nodemailer, which is loaded with the first of them.
import type { SmtpUrl } from "../../config_forms.ts";
import type { Mail, Mailer, SendOutcome } from "./mailer.ts";

/** Which server, and whom mails are from. */
export interface SmtpOptions {
  readonly server: SmtpUrl;
  /** An address, or `Name <address>`. */
  readonly from: string;
  /** The name of this machine for the server, which is nobody's business. */
  readonly helo: string;
}

/** Milliseconds until the server has to answer, and between two of its words. Together below a job's lease. */
const CONNECT_MS = 15_000;
const SILENCE_MS = 30_000;
const WHOLE_MS = 120_000;
/** Addresses of one person: what reads like a list, a comment or a line of its own is no address. */
const ADDRESS = /^[^\s\p{C}"(),:;<>[\]\\@]{1,64}@[^\s\p{C}"(),:;<>[\]\\@]{1,255}$/u;

/** One connection a mail. */
export class SmtpMailer implements Mailer {
  constructor(private readonly options: SmtpOptions) {}

  async send(mail: Mail): Promise<SendOutcome> {
    if (!ADDRESS.test(mail.to)) return { ok: false, isFinal: true, reason: "address" };
    const transport = await this.#open();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error("late")), WHOLE_MS);
    try {
      const { from } = this.options;
      // As an object: a text would be taken apart.
      const to = { name: "", address: mail.to };
      const message = { from, to, subject: mail.subject, text: mail.text };
      await Promise.race([
        transport.sendMail({ ...message, headers: { "Auto-Submitted": "auto-generated" } }),
        late.promise,
      ]);
      return { ok: true };
    } catch (error) {
      return failureOf(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #open() {
    const { server: { host, port, isSecure, user, password, needsTls }, helo } = this.options;
    const { createTransport } = await import("nodemailer");
    return createTransport({
      host,
      port,
      secure: isSecure,
      requireTLS: needsTls,
      name: helo,
      ...(user === null ? {} : { auth: { user, pass: password ?? "" } }),
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }
}

/** What is said of a mail itself: of its addresses, or of its text. */
const OF_MAIL = ["EENVELOPE", "EMESSAGE"];

/**
 * A refusal for good is the server's 5xx to a mail. A wrong password, no TLS or no service at all is the operator's to mend, and
 * keeps every mail back.
 */
function failureOf(error: unknown): SendOutcome {
  const { code, responseCode } = Object(error) as {
    readonly code?: unknown;
    readonly responseCode?: unknown;
  };
  const number = typeof responseCode === "number" ? responseCode : null;
  const word = typeof code === "string" && /^[A-Z]{1,20}$/.test(code) ? code : "failed";
  const isFinal = number !== null && number >= 500 && OF_MAIL.includes(word);
  return { ok: false, isFinal, reason: number === null ? word : `${word} ${number}` };
}
