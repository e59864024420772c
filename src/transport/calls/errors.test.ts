import { expect, it } from "vitest";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { ModelNotFound, ValidationError } from "../../kernel/errors.ts";
import { ExternalIdConflict } from "../../kernel/transfer-errors.ts";
import { toConnectError } from "./errors.ts";

const factsOf = (error: Error) => toConnectError(error, "request-1").findDetails(ErrorFactsSchema)[0];

it.each(["context_length_exceeded", "content_policy_violation"] as const)("the facts carry the reason %s", (reason) => {
  const details = [{ field: "", rule: "upstream", message: "No" }];
  expect(factsOf(new ValidationError(details, { reason }))).toMatchObject({ code: "validation_error", reason });
  expect(factsOf(new ValidationError(details))).toMatchObject({ code: "validation_error", reason: "" });
});

it("the facts carry the fields in which an order differs from the first under its externalId", () => {
  const differing = factsOf(new ExternalIdConflict(["amount", "address"]));
  expect(differing).toMatchObject({ code: "external_id_conflict", differingFields: ["amount", "address"] });
});

it("a model that is not there is named, with the nearest one, and nothing in it breaks a line", () => {
  const error = toConnectError(new ModelNotFound("acme/larg\r\nx", "acme/large"), "request-1");
  expect(error.rawMessage).toBe(
    'The model "acme/larg\\r\\nx" is not in the catalog. Did you mean "acme/large"? GET /v1/models lists all models.',
  );
  expect(factsOf(new ModelNotFound("a".repeat(5_000)))?.code).toBe("model_not_found");
  expect(toConnectError(new ModelNotFound("a".repeat(5_000)), "request-1").rawMessage.length).toBeLessThan(300);
});
