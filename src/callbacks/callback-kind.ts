import type { CallbackTables } from "./callback-tables.ts";
import { createDeliveryLog, type DeliveryLog } from "./delivery-log.ts";
import { DeliveryStore } from "./delivery-store.ts";
import { createSettingsStore, type SettingsStore } from "./settings-store.ts";

/** One kind of receivers, such as merchants: its tables, and what reads and writes them. */
export type CallbackKind = {
  readonly tables: CallbackTables;
  readonly settings: SettingsStore;
  readonly deliveries: DeliveryStore;
  readonly log: DeliveryLog;
};

/** Makes a kind of receivers. */
export function createCallbackKind(tables: CallbackTables): CallbackKind {
  return {
    tables,
    settings: createSettingsStore(tables),
    deliveries: new DeliveryStore(tables),
    log: createDeliveryLog(tables),
  };
}
