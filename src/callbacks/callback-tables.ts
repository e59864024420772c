/** The tables of one kind of receivers. Names go into statements as they are: they are constants of the code. */
export type CallbackTables = {
  /** One row for each receiver: its address and secrets. Its lock guards the deliveries of the receiver. */
  readonly settings: string;
  readonly delivery: string;
  readonly attempt: string;
  /** The column that identifies a receiver in settings and deliveries. */
  readonly receiver: string;
  /** The column of a delivery whose events are sent in order. `event_id` where every event is sent for itself. */
  readonly subject: string;
  /** Whether a receiver has a token of its own beside the secret. */
  readonly hasToken: boolean;
  /** The function of the database that deletes old deliveries; it is given days and the most that go at once. */
  readonly forget: string;
  /** What an event is about, for the log: a table with the event's id, and its column. */
  readonly about: { readonly table: string; readonly column: string };
};
