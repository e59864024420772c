// A buf plugin: writes openapi/openapi.json from the contracts. `npm run generate` runs it; its output is not edited.

import { createEcmaScriptPlugin, runNodeJs } from "@bufbuild/protoplugin";
import { writeDocument } from "./document.ts";
import { routesOf } from "../rest/http-rules.ts";

const plugin = createEcmaScriptPlugin({
  name: "saldo-openapi",
  version: "v1",
  generateTs(schema) {
    const services = schema.files.flatMap((file) => file.services);
    const hasRoutes = services.some((service) => service.methods.some((method) => routesOf(method).length > 0));
    // buf runs a plugin once for each of its inputs: one without routes must not overwrite the document of another.
    if (hasRoutes) schema.generateFile("openapi.json").print(JSON.stringify(writeDocument(services), null, 2));
  },
});

runNodeJs(plugin);
