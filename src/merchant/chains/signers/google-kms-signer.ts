// A key of Google Cloud KMS (EC_SIGN_SECP256K1_SHA256, protection level HSM). The digest goes into the field for SHA-256, whatever hash
// it is of. The service's checksums are not used: a signature that leads to the wallet is the stronger proof.

import { bytesOf, callService, textOf } from "./bounded-fetch.ts";
import type { TokenSource } from "./google-token.ts";
import { addressOfPublicKey, parseDerSignature } from "./signature-format.ts";
import type { Signer } from "./signer.ts";

export type GoogleKmsSettings = {
  /** https://cloudkms.googleapis.com, without a slash at the end. */
  readonly url: string;
  /** `projects/…/locations/…/keyRings/…/cryptoKeys/…/cryptoKeyVersions/1` */
  readonly keyVersion: string;
  readonly token: TokenSource;
};

const ALGORITHM = "EC_SIGN_SECP256K1_SHA256";

/** Makes the signer. Nothing is asked yet. */
export function createGoogleKmsSigner({ url, keyVersion, token }: GoogleKmsSettings): Signer {
  async function call(path: string, body: object | null, signal: AbortSignal) {
    const headers = { authorization: `Bearer ${await token(signal)}`, "content-type": "application/json" };
    const rest = body === null ? { method: "GET" } : { method: "POST", body: JSON.stringify(body) };
    return callService("Google KMS", `${url}/v1/${keyVersion}${path}`, { ...rest, headers, signal });
  }
  return {
    kind: "google-kms",
    async address(signal) {
      const answer = await call("/publicKey", null, signal);
      if (answer["algorithm"] !== ALGORITHM)
        throw new Error(`the key is of ${String(answer["algorithm"])}, and not of ${ALGORITHM}`);
      return addressOfPublicKey(derOf(textOf(answer, "pem")));
    },
    async sign(digest, signal) {
      const sha256 = Buffer.from(digest.slice(2), "hex").toString("base64");
      return parseDerSignature(bytesOf(await call(":asymmetricSign", { digest: { sha256 } }, signal), "signature"));
    },
  };
}

/** The bytes of a PEM block. */
function derOf(pem: string): Buffer {
  const [, base64 = ""] =
    /^-----BEGIN PUBLIC KEY-----\s+([A-Za-z0-9+/=\s]+?)\s*-----END PUBLIC KEY-----\s*$/.exec(pem) ?? [];
  return Buffer.from(base64.replaceAll(/\s/g, ""), "base64");
}
