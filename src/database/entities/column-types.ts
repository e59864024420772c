// The kinds of columns that the tables share, as the driver's values of `connections.ts` arrive.

import { p } from "@mikro-orm/core";

/** A moment, as a Date. */
export const moment = () => p.datetime().columnType("timestamp with time zone");

/** The moment of the write, unless one is given. */
export const now = () => moment().defaultRaw("clock_timestamp()");

/** A day, as the text that PostgreSQL writes. */
export const day = () => p.date();

/** An amount in the smallest unit of an asset, as text. */
export const assetUnits = () => p.decimal("string").precision(38).scale(0);

/** An amount in whole coins, as text. */
export const coins = () => p.decimal("string").precision(38).scale(18);

export const moments = () => p.array<Date>().columnType("timestamp with time zone[]");
export const integers = () => p.array<number>().columnType("integer[]");
export const bigints = () => p.array<bigint>().columnType("bigint[]");
export const coinAmounts = () => p.array().columnType("numeric[]");
