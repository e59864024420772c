// Guards of the RPC protocols: what is done before a caller is known, and how much a message may cost.

import type { PlantedBug } from "../planted-bug.ts";

const hostile = (test: string) => ({ file: "test/transport/rpc/hostile-messages.test.ts", test });

/** Each with the test that must notice it. */
export const GATE_BUGS: readonly PlantedBug[] = [
  {
    name: "a message is read before its caller is known",
    edits: [
      {
        file: "src/transport/calls/services.ts",
        find: "  readMessagesLate(router, meter);\n",
        replace: "",
      },
    ],
    noticedBy: hostile("answers a stranger before the body has come"),
  },
  {
    name: "elements are not counted before they are decoded",
    edits: [
      {
        file: "src/transport/calls/read-message.ts",
        find: "    boundWireElements(method.input, message);\n",
        replace: "",
      },
    ],
    noticedBy: hostile("without making one of them"),
  },
  {
    name: "an authority that is no host is counted as something else",
    edits: [
      {
        file: "src/transport/grpc/grpc-server.ts",
        find: '      onRefused("authority");\n',
        replace: '      onRefused("streams");\n',
      },
    ],
    noticedBy: { file: "test/transport/rpc/http2-bounds.test.ts", test: "ends its call and nothing else" },
  },
];
