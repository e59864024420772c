// Pictures and files within a request, as data URLs.

const BASE64_MARK = ";base64,";
/** Media types are short, and the data behind one is not searched. */
const MAX_HEAD_LENGTH = 200;

/** The type and the data of a data URL in base64; null: it is none. */
export function readDataUrl(url: string): { readonly mediaType: string; readonly data: string } | null {
  if (!url.startsWith("data:")) return null;
  const head = url.slice(0, MAX_HEAD_LENGTH);
  const end = head.indexOf(BASE64_MARK);
  const mediaType = head.slice("data:".length, end).split(";", 1)[0] ?? "";
  return end < 0 || mediaType === "" ? null : { mediaType, data: url.slice(end + BASE64_MARK.length) };
}
