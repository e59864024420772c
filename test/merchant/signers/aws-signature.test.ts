import { expect, it } from "vitest";
import { signedHeaders } from "../../../src/merchant/chains/signers/aws-signature.ts";

// Signatures of AWS's own library (@smithy/signature-v4 5.7.5) over the same request.
it.each([
  [
    null,
    "content-type;host;x-amz-date;x-amz-target",
    "391deef401839a4f1a2b70219b263a6d8c670ceaa0b73913456a3dda931b1708",
  ],
  [
    "session/token+with=signs",
    "content-type;host;x-amz-date;x-amz-security-token;x-amz-target",
    "1130995e9e5105932f20318f6a2bb18a24325ad87d06e1982b601b66b95d0b43",
  ],
])("a request is signed as AWS signs it, with the session token %s", (sessionToken, names, signature) => {
  const { authorization, ...others } = signedHeaders(
    {
      host: "kms.eu-central-1.amazonaws.com",
      region: "eu-central-1",
      service: "kms",
      headers: { "content-type": "application/x-amz-json-1.1", "x-amz-target": "TrentService.Sign" },
      body: '{"KeyId":"alias/hot","Message":"AAAA","MessageType":"DIGEST"}',
    },
    {
      accessKeyId: "AKIDEXAMPLE",
      secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
      sessionToken,
    },
    new Date("2026-11-26T15:16:17Z"),
  );
  expect(authorization).toBe(
    `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261126/eu-central-1/kms/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
  );
  expect(others["x-amz-security-token"]).toBe(sessionToken ?? undefined);
});
