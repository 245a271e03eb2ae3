// What keeps the service from starting and its operator can put right.

/** The message is one line, names the variable and holds no secret: it is all that the start prints. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
