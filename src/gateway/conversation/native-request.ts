import type { CacheWrites } from "../request/cache-marks.ts";

/** What a request asks of an upstream that speaks its client's own protocol, and that its chat form does not have. */
export type NativeRequest = {
  /** Whether it asks the model to think: thoughts are charged in full and shown in part, or not at all. */
  readonly thinks: boolean;
  /** The prompt cache writes that it asks for, and the field that asks for most; empty where none does. */
  readonly cacheWrites: CacheWrites;
  readonly cacheField: string;
  /** Whether it has thoughts from an upstream of another protocol. */
  readonly hasForeignThoughts: boolean;
};
