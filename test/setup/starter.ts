// A process that starts or adopts the embedded server of the given folder, prints which of the two, and releases it when its
// standard input ends.

import { startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";

const server = await startEmbeddedPostgres({ dataDir: process.argv[2] ?? "" });
process.stdout.write(server.ownedByUs ? "started\n" : "adopted\n");
process.stdin.on("end", () => void server.stop()).resume();
