// Chooses the engine child that holds a new transaction. A statement that has to be stopped ends its child, and every
// transaction in it: so transactions share a child only where there are more of them than children, and then best with
// those of their own namespace. Pure.

/** What has to be known of a child. `seats`: the namespace of each of its transactions. */
interface Seats {
  readonly seats: ReadonlyMap<number, string>;
  /** The child is being ended. */
  readonly killed: string | null;
}

/** The bounds of the pool. */
export interface PlaceBounds<Place> {
  readonly maxPlaces: number;
  readonly maxSeats: number;
  /** Starts one more child; null: none may start now. */
  readonly start: () => Place | null;
}

/** The child for one more transaction of the namespace; null: all are full. */
export function placeFor<Place extends Seats>(
  places: readonly Place[],
  namespaceId: string,
  { maxPlaces, maxSeats, start }: PlaceBounds<Place>,
): Place | null {
  const open = places.filter(({ killed, seats }) => killed === null && seats.size < maxSeats);
  const own = open.filter(({ seats }) => [...seats.values()].includes(namespaceId));
  // A namespace takes half of the children, so that others find one without it.
  if (own.length < Math.ceil(maxPlaces / 2)) {
    const free = open.find(({ seats }) => seats.size === 0) ?? (places.length < maxPlaces ? start() : null);
    if (free !== null) return free;
  }
  return emptiest(own) ?? emptiest(open);
}

function emptiest<Place extends Seats>(places: readonly Place[]): Place | null {
  return places.toSorted((a, b) => a.seats.size - b.seats.size)[0] ?? null;
}
