// How amounts of any asset and moments are written on the pages of operators.

import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { type Decimal, UNKNOWN, useFormats } from "../../../i18n/format.ts";

/** Writes a moment, or that it is not known. */
export function useWhen(): (at: Timestamp | undefined) => string {
  const formats = useFormats();
  return (at) => (at === undefined ? UNKNOWN : formats.time(timestampDate(at)));
}

/** Writes an amount of an asset such as `IDR/6`, every digit: rupiah as rupiah, coins with their code. */
export function useAssetAmount(): (amount: Decimal, asset: string) => string {
  const formats = useFormats();
  return (amount, asset) => {
    const code = asset.replace(/\/\d+$/, "");
    return code === "IDR" ? formats.exactRupiah(amount) : formats.coins(amount, code);
  };
}

/** The id of an account, a merchant, an event. */
export const UUID_PATTERN = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
