// A thread in place of the one that draws: a document is its script. "hang" is never answered.

import { parentPort } from "node:worker_threads";

parentPort?.on("message", ({ id, document }: { id: number; document: string }) => {
  if (document === "end") throw new Error("out of memory");
  if (document !== "hang") parentPort?.postMessage({ id, file: Buffer.from(document) }, []);
});
