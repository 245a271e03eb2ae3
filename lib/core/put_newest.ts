// Maps that hold so much and no more: their entries stand in the order in which they were put, the oldest first.

/** Puts an entry behind all others; beyond `most` entries the oldest go. */
export function putNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) break;
    map.delete(oldest);
  }
}
