// What a catalog that comes over the network may not change. The publisher decides where the value of a key's variable is sent and
// what this machine connects to; so a new host for a key that exists and private addresses are set on the command line, by those who
// have the machine anyway.

import type { FieldProblem } from "../kernel/errors.ts";
import type { UpstreamConfig } from "./catalog-model.ts";

/** Finds what only the command line may change. `live` has the presets, too; `exists` returns whether there is a key to steal. */
export async function remoteProblems(
  file: readonly UpstreamConfig[],
  live: readonly UpstreamConfig[],
  exists: (keyVariable: string) => Promise<boolean>,
): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = [];
  for (const upstream of file) {
    const field = `upstreams.${upstream.id}`;
    if (upstream.allowPrivateAddress && !live.some((each) => each.allowPrivateAddress && isSameHost(each, upstream))) {
      const message = "can be set on the command line only: saldo catalog apply";
      problems.push({ field: `${field}.allow_private_address`, rule: "catalog.private_address", message });
    }
    const { apiKeyEnv } = upstream;
    if (apiKeyEnv === null) continue;
    const ofKey = live.filter((each) => each.apiKeyEnv === apiKeyEnv);
    if (ofKey.some((each) => isSameHost(each, upstream))) continue;
    if (ofKey.length > 0 || (await exists(apiKeyEnv))) {
      const message = `sends ${apiKeyEnv} to a new host, which can be set on the command line only: saldo catalog apply`;
      problems.push({ field: `${field}.base_url`, rule: "catalog.new_host", message });
    }
  }
  return problems;
}

/** By scheme, host and port: a key goes to all of a host's paths alike. */
function isSameHost(one: UpstreamConfig, other: UpstreamConfig): boolean {
  return originOf(one) === originOf(other);
}

function originOf({ baseUrl }: UpstreamConfig): string {
  return URL.parse(baseUrl)?.origin ?? baseUrl;
}
