// The database whose published endpoints a stranger asks about.
import type { ControlPlane } from "../../control/control_plane.ts";
import { AppError } from "../../core/errors.ts";
import type { DatabaseRecord } from "../../store/records.ts";
import { findPublicPlace, type PublicAddress } from "../published/find_public_place.ts";

/** The trunk. Errors: `database_not_found`, whichever part is unknown; `meter_unreachable`. */
export async function findPublicDatabase(
  control: ControlPlane,
  address: PublicAddress,
): Promise<DatabaseRecord> {
  const place = await findPublicPlace(control, address);
  if (place === null) throw new AppError("database_not_found");
  return place.trunk;
}
