// Signature Version 4 of AWS for one kind of request: a POST to the root of a service, without a query.

import { createHmac, hash } from "node:crypto";

export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Null: the credentials are not temporary. */
  readonly sessionToken: string | null;
};

export type AwsRequest = {
  readonly host: string;
  readonly region: string;
  readonly service: string;
  /** Lower-case names. They are all signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

const hmac = (key: string | Uint8Array, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** The headers of a request with its signature. */
export function signedHeaders(
  { host, region, service, headers, body }: AwsRequest,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  now: Date,
): Record<string, string> {
  const at = `${now.toISOString().replaceAll(/[-:]/g, "").slice(0, 15)}Z`;
  const day = at.slice(0, 8);
  const all: Record<string, string> = {
    ...headers,
    host,
    "x-amz-date": at,
    ...(sessionToken === null ? {} : { "x-amz-security-token": sessionToken }),
  };
  const names = Object.keys(all).toSorted();
  const signed = names.join(";");
  const lines = names.map((name) => `${name}:${all[name]?.trim()}\n`).join("");
  const canonical = ["POST", "/", "", lines, signed, hash("sha256", body)].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", at, scope, hash("sha256", canonical)].join("\n");
  const key = [day, region, service, "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key, text).toString("hex");
  const { host: _, ...sent } = all;
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`,
  };
}
