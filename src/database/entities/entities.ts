// Every table of the service, as entities of the ORM. A test compares them with a fresh database.

import * as alerts from "./alerts.ts";
import * as autoTopUps from "./auto-top-ups.ts";
import * as billing from "./billing.ts";
import * as catalog from "./catalog.ts";
import * as identity from "./identity.ts";
import * as keys from "./keys.ts";
import * as ledger from "./ledger.ts";
import * as merchants from "./merchants.ts";
import * as operators from "./operators.ts";
import * as payouts from "./payouts.ts";
import * as archive from "./archive.ts";
import * as proof from "./proof.ts";
import * as transfers from "./transfers.ts";
import * as usage from "./usage.ts";

export const entities = {
  ...ledger,
  ...usage,
  ...keys,
  ...catalog,
  ...billing,
  ...alerts,
  ...autoTopUps,
  ...archive,
  ...proof,
  ...identity,
  ...merchants,
  ...transfers,
  ...payouts,
  ...operators,
};
