// What a start says to whoever has begun it.
import { reasonOf } from "../../core/attempt.ts";
import { ConfigError } from "../../core/errors.ts";

/**
 * Writes to standard output. Secrets are shown this once, so a start that cannot show them fails; any other may have its output
 * on a full disk. Errors: `ConfigError`.
 */
export function say(text: string, { hasSecrets }: { readonly hasSecrets: boolean }): void {
  try {
    Deno.stdout.writeSync(new TextEncoder().encode(text));
  } catch (error) {
    if (!hasSecrets) return;
    throw new ConfigError(
      `Let standard output take what is shown this once; it could not be written (${reasonOf(error)})`,
    );
  }
}
