// The everyday questions in two halves, by schema. What the translator is worked on with is the seen half; the other
// one is asked once when that work is done, and its first run stands in the documentation.
import type { EverydaySchema } from "./everyday_schema.ts";
import { carRental } from "./afterwards/car_rental.ts";
import { charity } from "./afterwards/charity.ts";
import { restaurant } from "./afterwards/restaurant.ts";
import { blog } from "./seen/blog.ts";
import { cornerShop } from "./seen/corner_shop.ts";
import { depot } from "./seen/depot.ts";
import { freight } from "./seen/freight.ts";
import { townLibrary } from "./seen/town_library.ts";
import { walkInClinic } from "./seen/walk_in_clinic.ts";
import { events } from "./unseen/events.ts";
import { gym } from "./unseen/gym.ts";
import { peopleOffice } from "./unseen/people_office.ts";
import { school } from "./unseen/school.ts";
import { creditUnion } from "./second/credit_union.ts";
import { farm } from "./second/farm.ts";
import { helpDesk } from "./second/help_desk.ts";
import { hotel } from "./second/hotel.ts";
import { jobBoard } from "./second/job_board.ts";
import { league } from "./second/league.ts";
import { realty } from "./second/realty.ts";
import { records } from "./second/records.ts";
import { bikeShare } from "./third/bike_share.ts";
import { landlord } from "./third/landlord.ts";
import { museum } from "./third/museum.ts";
import { recipes } from "./third/recipes.ts";
import { sensors } from "./unseen/sensors.ts";

/** Three more, written when the translator was done and the unseen half had been asked; asked once as well. */
export const everydayAfterwards: readonly EverydaySchema[] = [restaurant, carRental, charity];

export const everydayHalves: Readonly<Record<"seen" | "unseen", readonly EverydaySchema[]>> = {
  seen: [cornerShop, townLibrary, walkInClinic, freight, blog],
  unseen: [gym, events, school, peopleOffice, sensors],
};

/**
 * A second set in two halves by schema, written without a look at the translator. All of it was asked once before anything was
 * changed; then the first half was looked at.
 */
export const secondHalves: Readonly<Record<"seen" | "unseen", readonly EverydaySchema[]>> = {
  seen: [hotel, realty, league, jobBoard],
  unseen: [helpDesk, farm, records, creditUnion],
};

/** Written together with the rules for references of a table to itself. */
export const ownReferences: readonly EverydaySchema[] = [depot];

/** Sixty more over four schemas, written when the translator was done with the second set; asked once. */
export const thirdSet: readonly EverydaySchema[] = [bikeShare, recipes, museum, landlord];
