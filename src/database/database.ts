import type { Client, Pool } from "pg";
import type { MikroORM } from "@mikro-orm/postgresql";

/** An open database: everything that must be true is in it. */
export interface Database {
  /** Connections of the serving role, for set-based SQL. */
  readonly pool: Pool;
  /** The ORM over the serving role, for people-speed reading and writing. */
  readonly orm: MikroORM;
  /** A connection of the serving role that belongs to the caller alone, as a group-commit lane needs. */
  connect(): Promise<Client>;
  /** Ends a backend of ours whose reply was lost and waits until it is gone, so that what it was doing is decided. */
  endBackend(pid: number): Promise<void>;
  close(): Promise<void>;
}
