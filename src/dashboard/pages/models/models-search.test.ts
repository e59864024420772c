import { create } from "@bufbuild/protobuf";
import { ModelSchema } from "#gen/saldo/gateway/v1/model_pb.ts";
import { describe, expect, it } from "vitest";
import { fittingModels, readModelsSearch } from "./models-search.ts";

const model = (id: string, input: string, contextLength: number, inputModalities = ["text"]) =>
  create(ModelSchema, {
    id,
    name: id,
    contextLength,
    pricing: { input, output: input },
    architecture: { inputModalities },
  });

const models = [
  model("acme/large:v1.2", "9007199254740993.000001", 1000, ["text", "image"]),
  model("acme/small", "9007199254740993", 3000),
  model("other/tiny", "0", 2000),
];
const ids = (search: Parameters<typeof fittingModels>[1]) => fittingModels(models, search).map(({ id }) => id);

describe("the address of the page of models", () => {
  it("keeps ids unchanged and drops invalid fields", () => {
    expect(readModelsSearch({ model: "acme/large:v1.2", sort: "price", takes: "smell", q: 1, other: 2 })).toEqual({
      model: "acme/large:v1.2",
    });
    expect(readModelsSearch({ sort: "input", takes: "image", q: "acme" })).toEqual({
      sort: "input",
      takes: "image",
      q: "acme",
    });
  });

  it("filters by text and by inputs, and sorts", () => {
    expect(ids({ q: "ACME v1.2" })).toEqual(["acme/large:v1.2"]);
    expect(ids({ takes: "image" })).toEqual(["acme/large:v1.2"]);
    expect(ids({ sort: "input" })).toEqual(["other/tiny", "acme/small", "acme/large:v1.2"]);
    expect(ids({ sort: "context" })).toEqual(["acme/small", "other/tiny", "acme/large:v1.2"]);
    expect(ids({})).toEqual(["acme/large:v1.2", "acme/small", "other/tiny"]);
  });
});
