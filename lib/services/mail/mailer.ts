// A mail, and whoever sends it.

/** Plain text to one address. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** What became of it. `reason` is a word or a number of the server's, never its text. */
export type SendOutcome =
  | { readonly ok: true }
  /** `isFinal`: the server will not take it later either. */
  | { readonly ok: false; readonly isFinal: boolean; readonly reason: string };

/** Sends mails, each at most once. */
export interface Mailer {
  send(mail: Mail): Promise<SendOutcome>;
}
