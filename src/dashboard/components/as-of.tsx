import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { useFormats } from "../i18n/format.ts";
import { useMessages } from "../i18n/language.tsx";
import { isOlder } from "./is-older.ts";

const MESSAGES = {
  id: { asOf: "Data per", about: "Permintaan sesudahnya belum terlihat di sini; saldo selalu terbaru." },
  en: { asOf: "As of", about: "Later requests do not show here yet; the balance is always current." },
};

type AsOfProps = {
  /** The moment that the data is of. Undefined: that of the answer. */
  readonly asOf: Timestamp | undefined;
  /** When the answer arrived, in milliseconds of Unix time. */
  readonly readAtMs: number;
};

/** The moment that shown data is of, where it is older than its answer by more than a few seconds. */
export function AsOf({ asOf, readAtMs }: AsOfProps) {
  const messages = useMessages(MESSAGES);
  const formats = useFormats();
  if (asOf === undefined || !isOlder(timestampDate(asOf), readAtMs)) return null;
  return (
    <p role="status" className="text-sm text-muted">
      {messages.asOf} {formats.time(timestampDate(asOf))}. {messages.about}
    </p>
  );
}
