// The forms that a setting's value can have: a phrase that completes the message, and a parser.

/** `parse` answers undefined for text that does not have the form. */
export interface Form<Value> {
  readonly form: string;
  readonly parse: (text: string) => Value | undefined;
}

/** Where tenant databases live. */
export type TenantsUrl =
  | { readonly kind: "file" }
  | { readonly kind: "sqld"; readonly url: string; readonly adminUrl: string }
  | {
    readonly kind: "turso";
    readonly organization: string;
    readonly group: string;
    /** Where another platform API than Turso's own answers; null: Turso's own. */
    readonly apiUrl: string | null;
  };

/** A mail server. */
export interface SmtpUrl {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise from STARTTLS on, and never without it where `needsTls`. */
  readonly isSecure: boolean;
  readonly needsTls: boolean;
  readonly user: string | null;
  readonly password: string | null;
}

/** Every form by name. */
export const forms = {
  folder,
  host,
  visible,
  privateKey,
  wholeNumber,
  money,
  flag,
  oneOf,
  httpUrl,
  origins,
  tenantsUrl,
  smtpUrl,
  sender,
} as const;

function matching(form: string, pattern: RegExp): Form<string> {
  return { form, parse: (text) => pattern.test(text) ? text : undefined };
}

/** The permissions of engine processes are lists of paths, in which a comma ends one. */
function folder(): Form<string> {
  return matching(
    "a path without commas and control characters, and without a space at its ends; as a whole at most 400 bytes",
    /^(?!\s)[^\p{Cc},]+(?<!\s)$/u,
  );
}

function host(): Form<string> {
  const { form, parse } = matching("a host name or an IP address", /^[0-9A-Za-z.:_-]{1,253}$/);
  // In addresses an IPv6 host stands in brackets.
  return { form, parse: (text) => parse(/^\[([0-9A-Fa-f:.]+)\]$/.exec(text)?.[1] ?? text) };
}

function visible(least: number, most: number): Form<string> {
  return matching(`${least} to ${most} visible ASCII characters`, new RegExp(`^[!-~]{${least},${most}}$`));
}

/** What stands before the 32 bytes of an Ed25519 key, behind length and version (RFC 8410, section 7). */
const ED25519 = "300506032b657004220420";

function privateKey(): Form<string> {
  return {
    form: "an Ed25519 private key in PKCS #8 PEM",
    parse: (text) => {
      const pem = /^-----BEGIN PRIVATE KEY-----([\s\w+/=]+)-----END PRIVATE KEY-----\s*$/.exec(text);
      return pem?.[1] !== undefined && isEd25519(pem[1]) ? text : undefined;
    },
  };
}

function isEd25519(base64: string): boolean {
  try {
    const bytes = Uint8Array.fromBase64(base64);
    return bytes.length >= 48 && bytes.subarray(5, 16).toHex() === ED25519;
  } catch {
    return false;
  }
}

function wholeNumber(least: number, most: number): Form<number> {
  return {
    form: `a whole number from ${least} to ${most}`,
    parse: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
      return value >= least && value <= most ? value : undefined;
    },
  };
}

function money(): Form<number> {
  return {
    form: "an amount in US dollars such as 5 or 0.50",
    parse: (text) => /^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined,
  };
}

function flag(): Form<boolean> {
  return { form: "1 or 0", parse: (text) => text === "1" ? true : text === "0" ? false : undefined };
}

function oneOf<const Values extends readonly string[]>(values: Values): Form<Values[number]> {
  return {
    form: `one of ${values.join(", ")}`,
    parse: (text) => values.find((value) => value === text),
  };
}

function httpUrl(): Form<string> {
  return {
    form: "an http or https address without query and fragment",
    parse: (text) => {
      const url = URL.parse(text);
      // The parser takes more than a prefix of addresses may be: spaces around it, `http:host`.
      if (url === null || !/^https?:\/\/[^\s\p{C}]+$/iu.test(text) || url.search !== "" || url.hash !== "") {
        return undefined;
      }
      return text.replace(/\/+$/, "");
    },
  };
}

function origins(): Form<readonly string[]> {
  return {
    form: "origins such as https://app.example, with commas between",
    parse: (text) => {
      const listed = text.split(",").map((one) => one.trim());
      return listed.every(isOrigin) ? listed : undefined;
    },
  };
}

/** Exactly as a browser sends it: no path, no default port. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ["http:", "https:"].includes(url.protocol) && url.origin === text;
}

function tenantsUrl(): Form<TenantsUrl> {
  return {
    form:
      "file:, sqld+http://host:port?admin=http://host:port or turso://<organization>/<group>[?api=https://host]",
    parse: (text) => text === "file:" ? { kind: "file" } : sqldUrl(text) ?? tursoUrl(text),
  };
}

function sqldUrl(text: string): TenantsUrl | undefined {
  const match = /^sqld\+(https?:\/\/[^\s/?#]+)\/?\?admin=(https?:\/\/[^\s/?#]+)\/?$/.exec(text);
  const [, url, adminUrl] = match ?? [];
  if (url === undefined || adminUrl === undefined) return undefined;
  return URL.canParse(url) && URL.canParse(adminUrl) ? { kind: "sqld", url, adminUrl } : undefined;
}

function tursoUrl(text: string): TenantsUrl | undefined {
  const form = /^turso:\/\/([a-z0-9-]{1,64})\/([a-z0-9-]{1,64})(?:\?api=(https?:\/\/[^\s/?#]+)\/?)?$/;
  const [, organization, group, apiUrl = null] = form.exec(text) ?? [];
  if (organization === undefined || group === undefined) return undefined;
  return apiUrl === null || URL.canParse(apiUrl) ? { kind: "turso", organization, group, apiUrl } : undefined;
}

const DEFAULT_PORTS = { "smtp:": 587, "smtps:": 465 } as const;

function smtpUrl(): Form<SmtpUrl> {
  return {
    form: "smtps://user:password@host[:port], smtp://… with STARTTLS, or smtp://host:port?tls=off without it",
    parse: (text) => {
      const url = URL.parse(text);
      const isSecure = url?.protocol === "smtps:";
      if (url === null || url.hostname === "" || !(isSecure || url.protocol === "smtp:")) return undefined;
      const isOpen = !isSecure && url.search === "?tls=off";
      if ((url.search !== "" && !isOpen) || !["", "/"].includes(url.pathname) || url.hash !== "") {
        return undefined;
      }
      // A password goes over no line that anybody can read.
      if ((url.username === "") !== (url.password === "") || (isOpen && url.username !== "")) {
        return undefined;
      }
      const [user, password] = [decoded(url.username), decoded(url.password)];
      if (user === undefined || password === undefined) return undefined;
      return {
        host: url.hostname.replace(/^\[|\]$/g, ""),
        port: url.port === "" ? DEFAULT_PORTS[isSecure ? "smtps:" : "smtp:"] : Number(url.port),
        isSecure,
        needsTls: !isSecure && !isOpen,
        user: user || null,
        password: password || null,
      };
    },
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const ADDRESS = "[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}";

function sender(): Form<string> {
  return matching(
    "an address, or a name with an address in angle brackets",
    new RegExp(`^(?:${ADDRESS}|[^\\p{C}<>@",:;\\\\]{1,80} <${ADDRESS}>)$`, "u"),
  );
}
