// The manifest of a base backup: the size and the digest of each file, as PostgreSQL writes it, and a digest of the manifest itself.

import { createHash, type Hash } from "node:crypto";
import type { TarPart } from "./tar-reader.ts";

type FileFacts = { readonly size: number; readonly sha256: string };
export type Manifest = ReadonlyMap<string, FileFacts>;

const OWN_DIGEST = '"Manifest-Checksum"';
/** What a manifest does not list: the log is checked when it is replayed. */
const UNLISTED = "pg_wal/";

/** Reads a manifest and checks its own digest. Errors: it is damaged. */
export function readManifest(bytes: Buffer): Manifest {
  const end = bytes.lastIndexOf(OWN_DIGEST);
  const { Files: files, "Manifest-Checksum": digest } = JSON.parse(bytes.toString("utf8")) as {
    readonly Files: readonly ManifestLine[];
    readonly "Manifest-Checksum": string;
  };
  const found = createHash("sha256").update(bytes.subarray(0, end)).digest("hex");
  if (end === -1 || found !== digest) throw new Error("the manifest of the backup is damaged");
  return new Map(files.map((line) => [pathOf(line), { size: line.Size, sha256: line.Checksum }]));
}

/** Computes the facts of the files of an archive while it passes, and compares them with its manifest. */
export class FilesSeen {
  readonly #seen = new Map<string, FileFacts>();
  #now: { readonly name: string; readonly size: number; readonly hash: Hash } | null = null;

  /** Notes a part. Returns it. */
  note(part: TarPart): TarPart {
    if ("bytes" in part) this.#now?.hash.update(part.bytes);
    else {
      this.#close();
      const { type, name, size } = part.entry;
      if (type === "file") this.#now = { name, size, hash: createHash("sha256") };
    }
    return part;
  }

  /** Errors: a file is missing, is not listed, or is another than the manifest describes. */
  requireAllOf(manifest: Manifest): void {
    this.#close();
    for (const [path, { size, sha256 }] of manifest) {
      const seen = this.#seen.get(path);
      if (seen?.size !== size || seen.sha256 !== sha256)
        throw new Error(`the backup's file ${path} is ${seen === undefined ? "missing" : "damaged"}`);
    }
    for (const path of this.#seen.keys())
      if (!manifest.has(path) && !path.startsWith(UNLISTED)) throw new Error(`the backup has an unlisted file ${path}`);
  }

  #close(): void {
    if (this.#now === null) return;
    const { name, size, hash } = this.#now;
    this.#seen.set(name, { size, sha256: hash.digest("hex") });
    this.#now = null;
  }
}

type ManifestLine = {
  readonly Path?: string;
  readonly "Encoded-Path"?: string;
  readonly Size: number;
  readonly Checksum: string;
};

/** A path that is not UTF-8 is in hexadecimal. */
function pathOf({ Path: path, "Encoded-Path": encoded = "" }: ManifestLine): string {
  return path ?? Buffer.from(encoded, "hex").toString("utf8");
}
