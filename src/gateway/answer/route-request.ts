/** A request as one upstream gets it. */
export type RouteRequest = {
  readonly body: Buffer;
  /** Headers that belong to its protocol, names and values in turn. Absent: none. */
  readonly headers?: readonly string[];
};
