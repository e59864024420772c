// The width and the height of a picture by the head of its file. Some models charge for a picture by its size alone.

/** In pixels. */
export type PictureSize = { readonly width: number; readonly height: number };

/** The size of a PNG, GIF, WebP or JPEG file; null: it is none of them, or its head does not show it. */
export function readPictureSize(file: Buffer): PictureSize | null {
  try {
    return pngSize(file) ?? gifSize(file) ?? webpSize(file) ?? jpegSize(file);
  } catch {
    // The file ends inside of its head.
    return null;
  }
}

function startsWith(file: Buffer, signature: string, at = 0): boolean {
  return file.toString("latin1", at, at + signature.length) === signature;
}

function pngSize(file: Buffer): PictureSize | null {
  if (!startsWith(file, "\x89PNG\r\n\x1a\n") || !startsWith(file, "IHDR", 12)) return null;
  return { width: file.readUInt32BE(16), height: file.readUInt32BE(20) };
}

function gifSize(file: Buffer): PictureSize | null {
  if (!startsWith(file, "GIF87a") && !startsWith(file, "GIF89a")) return null;
  return { width: file.readUInt16LE(6), height: file.readUInt16LE(8) };
}

const LOW_14_BITS = 0x3fff;

function webpSize(file: Buffer): PictureSize | null {
  if (!startsWith(file, "RIFF") || !startsWith(file, "WEBP", 8)) return null;
  if (startsWith(file, "VP8X", 12)) return { width: file.readUIntLE(24, 3) + 1, height: file.readUIntLE(27, 3) + 1 };
  if (startsWith(file, "VP8L", 12)) {
    const bits = file.readUInt32LE(21);
    return { width: (bits & LOW_14_BITS) + 1, height: ((bits >>> 14) & LOW_14_BITS) + 1 };
  }
  if (!startsWith(file, "VP8 ", 12)) return null;
  return { width: file.readUInt16LE(26) & LOW_14_BITS, height: file.readUInt16LE(28) & LOW_14_BITS };
}

/** The markers that begin a frame, but for those that begin tables. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
const MARK = 0xff;

function jpegSize(file: Buffer): PictureSize | null {
  if (!startsWith(file, "\xff\xd8")) return null;
  let at = 2;
  while (file.readUInt8(at) === MARK) {
    const marker = file.readUInt8(at + 1);
    if (isFrame(marker)) return { height: file.readUInt16BE(at + 5), width: file.readUInt16BE(at + 7) };
    at += marker === MARK ? 1 : 2 + file.readUInt16BE(at + 2);
  }
  return null;
}
