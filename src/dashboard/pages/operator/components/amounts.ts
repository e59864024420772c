// Formats of amounts of any asset and of moments on the pages of operators.

import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { type Decimal, UNKNOWN, useFormats } from "../../../i18n/format.ts";

/** A moment, or that it is unknown. */
export function useWhen(): (at: Timestamp | undefined) => string {
  const formats = useFormats();
  return (at) => (at === undefined ? UNKNOWN : formats.time(timestampDate(at)));
}

/** An amount of an asset such as `IDR/6`, with all digits: rupiah as rupiah, coins with their code. */
export function useAssetAmount(): (amount: Decimal, asset: string) => string {
  const formats = useFormats();
  return (amount, asset) => {
    const code = asset.replace(/\/\d+$/, "");
    return code === "IDR" ? formats.exactRupiah(amount) : formats.coins(amount, code);
  };
}

/** The id of an account, a merchant or an event. */
export const UUID_PATTERN = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
