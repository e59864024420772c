// The upstreams: whether each that has its credential or is routed to answers and takes it. It is asked for its list of models.

import { presetCatalog, usesRealUpstreams } from "../../app/compose/catalog.ts";
import { whereIs } from "../../app/compose/database.ts";
import type { Config } from "../../app/config/config.ts";
import type { UpstreamConfig } from "../../catalog/catalog-model.ts";
import { readActiveCatalog } from "../../catalog/store.ts";
import { isKeyVariable } from "../../catalog/upstream-file.ts";
import { inReadOnly } from "../../database/inspect.ts";
import { presetVariableOf } from "../../gateway/upstreams/presets.ts";
import { probeUpstream } from "../../gateway/upstreams/http/probe-upstream.ts";
import { type Check, failed, type Finding, ok, type CheckContext, reasonOf, warning } from "./check.ts";
import type { ClockSamples } from "./clock.ts";

type Known = {
  readonly upstreams: readonly UpstreamConfig[];
  /** The ids that models are routed to. */
  readonly routed: ReadonlySet<string>;
};

/** The checks of upstreams. What is only in the catalog is known where the database can be read. */
export function upstreamChecks(
  context: CheckContext,
  { isReadable, samples }: { isReadable: Promise<boolean>; samples: ClockSamples },
): Check[] {
  const { config, withinMs } = context;
  return [
    {
      name: "upstreams",
      waitsForDatabase: true,
      advice: "Look at the upstreams and the network path to them.",
      async look() {
        if (!usesRealUpstreams(config)) return [ok("upstreams", "a demo is answered by its own models alone")];
        const { upstreams, routed } = await knownUpstreams(config, await isReadable);
        const asked = upstreams.filter(
          ({ kind, id, ...each }) => kind !== "demo" && (routed.has(id) || hasKey(each, config)),
        );
        const missing = [...routed].filter((id) => upstreams.every((each) => each.id !== id));
        const findings = await Promise.all(asked.map((each) => lookAt(each, { config, withinMs, samples })));
        const all = [...findings, ...missing.map(missingFinding)];
        return all.length > 0
          ? all
          : [
              config.demo
                ? ok("upstreams", "only the demo's own is there")
                : warning(
                    "upstreams",
                    "there is none, so no model is answered",
                    "Set the key of one, and add its models to the catalog.",
                  ),
            ];
      },
    },
  ];
}

async function knownUpstreams(config: Config, isReadable: boolean): Promise<Known> {
  const { presetUpstreams } = presetCatalog(config);
  if (!isReadable) return { upstreams: presetUpstreams, routed: new Set() };
  const { upstreams, models } = await inReadOnly(whereIs(config), readActiveCatalog);
  return {
    upstreams: [...new Map([...presetUpstreams, ...upstreams].map((each) => [each.id, each])).values()],
    routed: new Set(models.flatMap(({ routes }) => routes.map(({ upstream }) => upstream))),
  };
}

function hasKey({ apiKeyEnv }: Pick<UpstreamConfig, "apiKeyEnv">, { variable }: Config): boolean {
  return apiKeyEnv === null || (variable(apiKeyEnv) ?? "") !== "";
}

async function lookAt(
  upstream: UpstreamConfig,
  { config, withinMs, samples }: { config: Config; withinMs: number; samples: ClockSamples },
): Promise<Finding> {
  const name = `upstream ${upstream.id}`;
  const { apiKeyEnv } = upstream;
  const key = apiKeyEnv === null ? "the address" : apiKeyEnv;
  const apiKey = apiKeyEnv === null ? null : isKeyVariable(apiKeyEnv) ? config.variable(apiKeyEnv) : undefined;
  if (apiKey === undefined || apiKey === "")
    return failed(name, "models are routed to it, and its key is not set", `Set ${key}.`);
  const { host } = new URL(upstream.baseUrl);
  const advice = "Look at its status page, its address in the catalog, and the network path to it.";
  try {
    const { outcome, status, date } = await probeUpstream(upstream, { apiKey, withinMs });
    if (date !== null) samples.add(host, date);
    if (outcome === "fine") return ok(name, `${host} answers${apiKey === null ? "" : " and takes the key"}`);
    if (outcome === "refused") return failed(name, `${host} refuses the key: ${status}`, `Set ${key}.`);
    if (outcome === "unlisted")
      return warning(
        name,
        `${host} answers and has no list of models, so the key was not tried`,
        "Send a request to a model of it.",
      );
    if (outcome === "busy")
      return warning(
        name,
        `${host} is busy or the account has used up its limit: ${status}`,
        "Look at the account there.",
      );
    return failed(name, `${host} answers ${status}`, advice);
  } catch (error) {
    return failed(name, `${host} cannot be reached: ${reasonOf(error)}`, advice);
  }
}

function missingFinding(id: string): Finding {
  const variable = presetVariableOf(id);
  return failed(
    `upstream ${id}`,
    "models are routed to it, and it is not set up",
    variable === null ? "Add it to the catalog." : `Set ${variable}.`,
  );
}
