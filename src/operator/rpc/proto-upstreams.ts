// Translates upstreams and their figures to the contract.

import { type CatalogPresets, readLiveCatalog } from "../../catalog/apply-catalog.ts";
import type { UpstreamConfig } from "../../catalog/catalog-model.ts";
import {
  NO_RECORD,
  readUpstreamRecords,
  type UpstreamFigures,
  type UpstreamRecord,
} from "../../gateway/upstreams/upstream-figures.ts";
import { readLearnedModels } from "../../gateway/upstreams/learned-models.ts";
import { readUpstreamMarks } from "../../gateway/upstreams/upstream-marks.ts";
import { presetVariableOf } from "../../gateway/upstreams/presets.ts";
import { toProtoUpstream } from "./proto-catalog.ts";
import { moment, type Parts } from "./proto-parts.ts";

/** Every upstream that is set up or that a model names, with its figures. */
export async function listUpstreams(
  database: Parts["database"],
  { isSet, presetUpstreams, presetModels }: Pick<Parts, "isSet"> & Required<CatalogPresets>,
) {
  const [{ catalog }, records, marks, learned] = await Promise.all([
    readLiveCatalog(database, { presetUpstreams, presetModels }),
    readUpstreamRecords(database.pool),
    readUpstreamMarks(database.pool),
    readLearnedModels(database.pool),
  ]);
  const known = new Map([...presetUpstreams, ...catalog.upstreams].map((upstream) => [upstream.id, upstream]));
  const listed = new Set(catalog.upstreams.map(({ id }) => id));
  const routed = catalog.models.map(({ routes }) => new Set(routes.map(({ upstream }) => upstream)));
  const ids = new Set([...known.keys(), ...routed.flatMap((upstreams) => [...upstreams])]);
  return [...ids].toSorted().map((id) => {
    const upstream = known.get(id);
    const variable = variableOf(id, upstream);
    return {
      upstream: upstream === undefined ? { id } : toProtoUpstream(upstream),
      isKnown: upstream !== undefined,
      isPreset: upstream !== undefined && !listed.has(id),
      isCredentialSet: variable === "" ? upstream !== undefined : isSet(variable),
      variable,
      models: routed.filter((names) => names.has(id)).length,
      ...toProtoRecord(records.get(id) ?? NO_RECORD),
      ...moment("mixedUpAt", marks.find((mark) => mark.upstream === id)?.mixedUpAt ?? null),
      hiddenOutputModels: learned.filter((found) => found.upstream === id).map(({ model }) => model),
    };
  });
}

/** The variable that an upstream needs, or that would add it. */
function variableOf(id: string, upstream: UpstreamConfig | undefined): string {
  return (upstream === undefined ? presetVariableOf(id) : upstream.apiKeyEnv) ?? "";
}

function toProtoRecord({ recent, hour, lastAnsweredAt, lastFailedAt, lastFailure }: UpstreamRecord) {
  return {
    recent: toProtoFigures(recent),
    hour: toProtoFigures(hour),
    ...moment("lastAnsweredAt", lastAnsweredAt),
    ...moment("lastFailedAt", lastFailedAt),
    lastFailure: lastFailure ?? "",
  };
}

function toProtoFigures({ minutes, answered, failed, firstByteP50Ms, firstByteP95Ms }: UpstreamFigures) {
  return {
    minutes,
    answered: BigInt(answered),
    failed: BigInt(failed),
    ...(firstByteP50Ms === null ? {} : { firstByteP50Ms }),
    ...(firstByteP95Ms === null ? {} : { firstByteP95Ms }),
  };
}
