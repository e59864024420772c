// The filters of the page of models in its address, and the models that match them.

import type { Model } from "#gen/saldo/gateway/v1/model_pb.ts";
import { unitsOf } from "../../i18n/decimal.ts";

/** Inputs besides text. */
export const MODALITIES = ["image", "audio", "video"] as const;
export const SORTS = ["name", "input", "output", "context"] as const;

export type Modality = (typeof MODALITIES)[number];
export type Sort = (typeof SORTS)[number];

/** The address; an omitted field has its default. */
export type ModelsSearch = {
  readonly q?: string;
  readonly takes?: Modality;
  readonly sort?: Sort;
  /** The model whose sheet is open. */
  readonly model?: string;
};

/** Keeps the valid fields of an address. */
export function readModelsSearch({ q, takes, sort, model }: Readonly<Record<string, unknown>>): ModelsSearch {
  const modality = MODALITIES.find((each) => each === takes);
  const order = SORTS.find((each) => each === sort && each !== "name");
  return {
    ...(typeof q === "string" && q !== "" ? { q } : {}),
    ...(modality === undefined ? {} : { takes: modality }),
    ...(order === undefined ? {} : { sort: order }),
    ...(typeof model === "string" && model !== "" ? { model } : {}),
  };
}

/** The matching models, in order: the cheapest or the largest context first. */
export function fittingModels(models: readonly Model[], { q = "", takes, sort = "name" }: ModelsSearch): Model[] {
  const messages = q.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ id, name, description, architecture }: Model): boolean => {
    const text = `${id} ${name} ${description}`.toLowerCase();
    const taken = architecture?.inputModalities ?? [];
    return messages.every((word) => text.includes(word)) && (takes === undefined || taken.includes(takes));
  };
  return models.filter(fits).toSorted((one, other) => ORDERS[sort](one, other) || one.name.localeCompare(other.name));
}

const ORDERS: Readonly<Record<Sort, (one: Model, other: Model) => number>> = {
  name: () => 0,
  input: (one, other) => compare(one.pricing?.input, other.pricing?.input),
  output: (one, other) => compare(one.pricing?.output, other.pricing?.output),
  context: (one, other) => other.contextLength - one.contextLength,
};

function compare(one = "0", other = "0"): number {
  const difference = unitsOf(one) - unitsOf(other);
  return difference === 0n ? 0 : difference > 0n ? 1 : -1;
}
