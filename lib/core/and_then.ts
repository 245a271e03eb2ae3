// Values that are there at once where they are cached: whoever goes on with one makes no promise then.

/** What comes of a value, at once where it is there at once. */
export function andThen<From, To>(
  value: From | Promise<From>,
  next: (value: From) => To | Promise<To>,
): To | Promise<To> {
  return value instanceof Promise ? value.then(next) : next(value);
}
