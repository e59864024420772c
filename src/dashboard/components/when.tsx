import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { UNKNOWN, useFormats } from "../i18n/format.ts";

/** A moment on one line: on a narrow page without year and seconds, so that rows stay low. */
export function When({ at }: { readonly at: Timestamp | undefined }) {
  const formats = useFormats();
  if (at === undefined) return UNKNOWN;
  const moment = timestampDate(at);
  return (
    <time dateTime={moment.toISOString()} title={formats.time(moment)} className="whitespace-nowrap">
      <span className="max-sm:hidden">{formats.time(moment)}</span>
      <span className="sm:hidden">{formats.shortTime(moment)}</span>
    </time>
  );
}
