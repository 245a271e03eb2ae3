// Streams between two requests over HTTP. A stream without stored texts and without a transaction has no state, so nothing of
// it is kept and nothing of it can expire.
import { openAnswer, sealAnswer } from "../../access/replay_scope.ts";
import { equalBytes } from "../../access/token_format.ts";
import type { KeyedHashes } from "../../control/keyed_hashes.ts";
import type { Clock } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import {
  MAX_KEPT_CHARACTERS,
  MAX_KEPT_CHARACTERS_OF_TOKEN,
  MAX_KEPT_STREAMS,
  STREAM_IDLE_MS,
} from "../../core/limits_hrana.ts";
import type { ResumeTransaction } from "../../query/transaction/interactive_transaction.ts";
import type { DoorContext } from "./hrana_types.ts";
import type { StreamOwner } from "./open_sockets.ts";
import { HranaStream } from "./stream.ts";
import { StoredTexts } from "./stored_texts.ts";
import { base64url } from "../../core/base64url.ts";

/** The parts of the process that it needs. */
export interface KeptStreamsContext {
  readonly clock: Clock;
  readonly hashes: KeyedHashes;
  /** Null: no transaction lasts over several requests here. */
  readonly resume: ResumeTransaction | null;
}

interface KeptStream extends StreamOwner {
  readonly stream: HranaStream;
  readonly databaseId: string;
  sequence: number;
  /** Null: a request of it runs. */
  restsSinceMs: number | null;
}

/** A stream that a request works on, and the name under which it was kept. */
export interface ClaimedStream {
  readonly stream: HranaStream;
  readonly id: string | null;
}

/** All streams of the process that have a state. */
export class KeptStreams {
  readonly #kept = new Map<string, KeptStream>();

  constructor(private readonly parts: KeptStreamsContext) {}

  get size(): number {
    return this.#kept.size;
  }

  /**
   * The stream of a request; null begins one. A baton is good once, for the token and the database that it was given to.
   * Errors: `baton_invalid`, `stream_expired`, `transaction_timeout`.
   */
  claim(ctx: DoorContext, baton: string | null): ClaimedStream | Promise<ClaimedStream> {
    return baton === null
      ? { stream: new HranaStream(new StoredTexts()), id: null }
      : this.#claimKept(ctx, baton);
  }

  async #claimKept(ctx: DoorContext, baton: string): Promise<ClaimedStream> {
    if (baton.startsWith(SEALED)) return { stream: await this.#unseal(ctx, baton), id: null };
    const [id = "", sequence = "", mac = ""] = baton.split(".");
    const { tokenId, target: { databaseId } } = ctx;
    const own = await this.#mac(id, sequence, ctx);
    if (!equalBytes(new TextEncoder().encode(mac), new TextEncoder().encode(own))) {
      throw new AppError("baton_invalid");
    }
    const kept = this.#kept.get(id);
    if (kept === undefined) throw new AppError("stream_expired");
    const isNext = kept.sequence === Number(sequence) && kept.restsSinceMs !== null &&
      kept.tokenId === tokenId && kept.databaseId === databaseId;
    if (!isNext) throw new AppError("baton_invalid");
    kept.restsSinceMs = null;
    return { stream: kept.stream, id };
  }

  /** Keeps the stream behind a request; answers its baton, or null where it has no state. */
  keep(ctx: DoorContext, claimed: ClaimedStream): null | Promise<string> {
    const { stream, id } = claimed;
    stream.settle();
    if (stream.transaction !== null || stream.texts.size > 0) return this.#keepState(ctx, claimed);
    this.forget(id);
    return null;
  }

  async #keepState(ctx: DoorContext, { stream, id }: ClaimedStream): Promise<string> {
    const { transaction, texts } = stream;
    const rested = transaction !== null && transaction.lost === null ? transaction.rest() : null;
    if (rested !== null) return await this.#seal(ctx, rested, texts);
    const name = id ?? newId("str", this.parts.clock.now());
    const { tokenId, target: { databaseId, namespaceId } } = ctx;
    const kept = this.#kept.get(name) ??
      { stream, namespaceId, tokenId, databaseId, sequence: 0, restsSinceMs: null };
    kept.sequence++;
    kept.restsSinceMs = this.parts.clock.monotonicMs();
    // Inserting again moves it to the end: the first is the one that has rested longest.
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    this.#evict(kept);
    const sequence = String(kept.sequence);
    return `${name}.${sequence}.${await this.#mac(name, sequence, ctx)}`;
  }

  /** Forgets a stream that has ended. */
  forget(id: string | null): void {
    if (id !== null) this.#kept.delete(id);
  }

  /** Whose they are. */
  owners(): Iterable<StreamOwner> {
    return this.#kept.values();
  }

  /** Ends those of a token that is gone, but for one that a request works on. */
  endOf(tokenId: string): void {
    for (const [id, kept] of this.#kept) {
      if (kept.tokenId !== tokenId || kept.restsSinceMs === null) continue;
      kept.stream.abandon();
      this.#kept.delete(id);
    }
  }

  /** Ends all of them. */
  close(): void {
    for (const { stream } of this.#kept.values()) stream.abandon();
    this.#kept.clear();
  }

  /**
   * Ends those that nothing was asked of for long, and those that rest longest where there are too many of the token, or
   * too many stored texts of it or of all. The newest stays.
   */
  #evict(newest: KeptStream): void {
    const dueMs = this.parts.clock.monotonicMs() - STREAM_IDLE_MS;
    const isOwn = ({ tokenId }: KeptStream) => tokenId === newest.tokenId;
    const all = [...this.#kept.values()];
    let own = all.filter(isOwn).length;
    let ownCharacters = charactersOf(all.filter(isOwn));
    let characters = charactersOf(all);
    for (const [id, kept] of this.#kept) {
      if (kept.restsSinceMs === null || kept === newest) continue;
      const texts = kept.stream.texts.characters;
      const isOver = isOwn(kept) &&
        (own > MAX_KEPT_STREAMS || (texts > 0 && ownCharacters > MAX_KEPT_CHARACTERS_OF_TOKEN));
      const isTooMuch = texts > 0 && characters > MAX_KEPT_CHARACTERS;
      if (!isOver && !isTooMuch && kept.restsSinceMs > dueMs) continue;
      characters -= texts;
      if (isOwn(kept)) [own, ownCharacters] = [own - 1, ownCharacters - texts];
      kept.stream.abandon();
      this.#kept.delete(id);
    }
  }

  #mac(id: string, sequence: string, { tokenId, target }: DoorContext): string | Promise<string> {
    return this.parts.hashes.of("hrana baton", id, sequence, tokenId, target.databaseId);
  }

  async #seal(ctx: DoorContext, rested: string, texts: StoredTexts): Promise<string> {
    const bytes = new TextEncoder().encode(JSON.stringify([rested, texts.entries()]));
    const sealed = await sealAnswer(await this.#words(ctx), bytes);
    return SEALED + base64url(sealed);
  }

  async #unseal(ctx: DoorContext, baton: string): Promise<HranaStream> {
    const { resume } = this.parts;
    if (resume === null) throw new AppError("baton_invalid");
    const [rested, entries] = await openSealed(await this.#words(ctx), baton);
    const texts = new StoredTexts();
    for (const [id, sql] of entries) texts.store(id, sql);
    const stream = new HranaStream(texts);
    const { target, tokenId } = ctx;
    stream.resume(await resume(ctx, { target, tokenId, userId: null }, rested));
    return stream;
  }

  async #words({ tokenId, target }: DoorContext): Promise<readonly string[]> {
    return [await this.parts.hashes.of("hrana baton key", tokenId, target.databaseId)];
  }
}

function charactersOf(kept: readonly KeptStream[]): number {
  return kept.reduce((sum, { stream }) => sum + stream.texts.characters, 0);
}

const SEALED = "s.";

type Sealed = readonly [rested: string, texts: readonly (readonly [number, string])[]];

/** Guarantee: what opens under the key was sealed here. Errors: `baton_invalid`. */
async function openSealed(words: readonly string[], baton: string): Promise<Sealed> {
  try {
    const bytes = Uint8Array.fromBase64(baton.slice(SEALED.length), { alphabet: "base64url" });
    return JSON.parse(new TextDecoder().decode(await openAnswer(words, bytes)));
  } catch {
    throw new AppError("baton_invalid");
  }
}
