// Asks browsers for passkeys and checks what they answer. The library is loaded when somebody first uses one.
import { MINUTE_MS } from "../../core/clock.ts";
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import type { UsedChallenge } from "../../control/passkeys.ts";
import type { PasskeyRecord } from "../../store/people_records.ts";
import { type ChallengeUse, newChallenge, readChallenge } from "./passkey_challenge.ts";
import type { PeopleContext } from "./people_context.ts";
import { relyingParty } from "./relying_party.ts";

/** What `navigator.credentials.create` and `.get` take, as JSON. */
export type CreationOptions = PublicKeyCredentialCreationOptionsJSON;
/** See `CreationOptions`. */
export type RequestOptions = PublicKeyCredentialRequestOptionsJSON;

/** A browser's answer (`toJSON()` of its credential), with the members that are looked at before it is checked. */
export interface BrowserAnswer {
  /** base64url. */
  readonly id: string;
  readonly response: { readonly userHandle?: string | undefined; readonly [member: string]: unknown };
  readonly [member: string]: unknown;
}

/** Ed25519, P-256 and RSA with SHA-256, as COSE numbers them. */
const ALGORITHMS = [-8, -7, -257];
const TIMEOUT_MS = 5 * MINUTE_MS;

/** For whom a passkey is to be made. */
export interface PasskeyOwner {
  readonly memberId: string;
  readonly email: string;
  readonly name: string | null;
  /** Those that there are: no authenticator makes a second one. */
  readonly passkeys: readonly PasskeyRecord[];
}

/** Errors: `passkeys_unavailable`, `meter_unreachable`. */
export async function creationOptions(
  ctx: PeopleContext,
  use: ChallengeUse,
  owner: PasskeyOwner,
): Promise<CreationOptions> {
  const { id } = relyingParty(ctx.baseUrl);
  const { generateRegistrationOptions } = await import("@simplewebauthn/server");
  return await generateRegistrationOptions({
    rpName: "Cubby",
    rpID: id,
    userID: new TextEncoder().encode(owner.memberId),
    userName: owner.email,
    userDisplayName: owner.name ?? owner.email,
    challenge: await newChallenge(ctx, use),
    timeout: TIMEOUT_MS,
    attestationType: "none",
    excludeCredentials: owner.passkeys.map(credentialOf),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs: ALGORITHMS,
  });
}

/** Without passkeys: any that the browser has for this service. Errors: as `creationOptions`. */
export async function requestOptions(
  ctx: PeopleContext,
  use: ChallengeUse,
  passkeys: readonly PasskeyRecord[] | null,
): Promise<RequestOptions> {
  const { id } = relyingParty(ctx.baseUrl);
  const { generateAuthenticationOptions } = await import("@simplewebauthn/server");
  return await generateAuthenticationOptions({
    rpID: id,
    challenge: await newChallenge(ctx, use),
    timeout: TIMEOUT_MS,
    userVerification: "required",
    ...(passkeys === null ? {} : { allowCredentials: passkeys.map(credentialOf) }),
  });
}

function credentialOf({ credentialId, transports }: PasskeyRecord): { id: string; transports: string[] } {
  return { id: credentialId, transports: [...transports] };
}

/** What a new passkey is, once its making is proved. */
export interface MadePasskey {
  readonly credential: Pick<PasskeyRecord, "credentialId" | "publicKey" | "counter" | "transports">;
  readonly challenge: UsedChallenge;
}

/** Null where anything about the answer is not as it was asked for. Errors: `passkeys_unavailable`. */
export async function verifyCreation(
  ctx: PeopleContext,
  use: ChallengeUse,
  answer: BrowserAnswer,
): Promise<MadePasskey | null> {
  const { id, origin } = relyingParty(ctx.baseUrl);
  const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
  const seen = new SeenChallenge(ctx, use);
  const verified = await nullIfRefused(() =>
    verifyRegistrationResponse({
      response: asRegistration(answer),
      expectedChallenge: seen.check,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    })
  );
  if (!verified?.verified || seen.challenge === null) return null;
  const { id: credentialId, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
  return {
    credential: { credentialId, publicKey: new Uint8Array(publicKey), counter, transports },
    challenge: seen.challenge,
  };
}

/** A passkey's signature that counts: its new counter, and the challenge that it has answered. */
export interface Signed {
  readonly counter: number;
  readonly challenge: UsedChallenge;
}

/** Null where anything about the answer is not as it was asked for. Errors: `passkeys_unavailable`. */
export async function verifySignature(
  ctx: PeopleContext,
  use: ChallengeUse,
  { answer, passkey }: { readonly answer: BrowserAnswer; readonly passkey: PasskeyRecord },
): Promise<Signed | null> {
  const { id, origin } = relyingParty(ctx.baseUrl);
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  const seen = new SeenChallenge(ctx, use);
  const { credentialId, publicKey, counter } = passkey;
  const verified = await nullIfRefused(() =>
    verifyAuthenticationResponse({
      response: asAuthentication(answer),
      expectedChallenge: seen.check,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      credential: { id: credentialId, publicKey, counter },
    })
  );
  if (!verified?.verified || seen.challenge === null) return null;
  return { counter: verified.authenticationInfo.newCounter, challenge: seen.challenge };
}

/** The library asks whether a challenge is ours; what it was is needed afterwards. */
class SeenChallenge {
  challenge: UsedChallenge | null = null;

  constructor(private readonly ctx: PeopleContext, private readonly use: ChallengeUse) {}

  readonly check = async (text: string): Promise<boolean> => {
    this.challenge = await readChallenge(this.ctx, this.use, text);
    return this.challenge !== null;
  };
}

/** The library throws for whatever an answer lacks: what exactly is no help to anybody but a forger. */
async function nullIfRefused<Verified>(verify: () => Promise<Verified>): Promise<Verified | null> {
  try {
    return await verify();
  } catch {
    return null;
  }
}

/** Guarantee: none; the library looks at each member before it uses it, and what it throws counts as refused. */
function asRegistration(answer: object): RegistrationResponseJSON {
  return answer as RegistrationResponseJSON;
}

/** Guarantee: as `asRegistration`. */
function asAuthentication(answer: object): AuthenticationResponseJSON {
  return answer as AuthenticationResponseJSON;
}
