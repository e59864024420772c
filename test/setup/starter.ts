// A process that starts or adopts the embedded server of the folder it is given, says which, and lets go of it when its
// standard input ends.

import { startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";

const server = await startEmbeddedPostgres({ dataDir: process.argv[2] ?? "" });
process.stdout.write(server.ownedByUs ? "started\n" : "adopted\n");
process.stdin.on("end", () => void server.stop()).resume();
