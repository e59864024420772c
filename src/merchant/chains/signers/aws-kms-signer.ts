// A key of AWS KMS (ECC_SECG_P256K1, SIGN_VERIFY). The service gets the digest as it is, and answers in DER.

import type { AwsCredentials } from "./aws-signature.ts";
import { signedHeaders } from "./aws-signature.ts";
import { bytesOf, callService } from "./bounded-fetch.ts";
import { addressOfPublicKey, parseDerSignature } from "./signature-format.ts";
import type { Signer } from "./signer.ts";

export type AwsKmsSettings = {
  readonly region: string;
  /** Such as https://kms.eu-central-1.amazonaws.com, without a slash at the end. */
  readonly url: string;
  /** The key's id, ARN or alias. */
  readonly keyId: string;
  readonly credentials: AwsCredentials;
};

const KEY_SPEC = "ECC_SECG_P256K1";
const ALGORITHM = "ECDSA_SHA_256";

/** Makes the signer. Nothing is asked yet. */
export function createAwsKmsSigner(
  { region, url, keyId, credentials }: AwsKmsSettings,
  now = () => new Date(),
): Signer {
  async function call(action: string, fields: object, signal: AbortSignal) {
    const body = JSON.stringify({ KeyId: keyId, ...fields });
    const headers = { "content-type": "application/x-amz-json-1.1", "x-amz-target": `TrentService.${action}` };
    const request = { host: new URL(url).host, region, service: "kms", headers, body };
    const signed = signedHeaders(request, credentials, now());
    return callService("AWS KMS", `${url}/`, { method: "POST", headers: signed, body, signal });
  }
  return {
    kind: "aws-kms",
    async address(signal) {
      const answer = await call("GetPublicKey", {}, signal);
      if (answer["KeySpec"] !== KEY_SPEC)
        throw new Error(`the key is of ${String(answer["KeySpec"])}, and not of ${KEY_SPEC}`);
      return addressOfPublicKey(bytesOf(answer, "PublicKey"));
    },
    async sign(digest, signal) {
      const message = Buffer.from(digest.slice(2), "hex").toString("base64");
      const fields = { Message: message, MessageType: "DIGEST", SigningAlgorithm: ALGORITHM };
      return parseDerSignature(bytesOf(await call("Sign", fields, signal), "Signature"));
    },
  };
}
