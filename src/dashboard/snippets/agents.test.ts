import { create } from "@bufbuild/protobuf";
import { ModelSchema } from "#gen/saldo/gateway/v1/model_pb.ts";
import { describe, expect, it } from "vitest";
import { agentsCommand, baseUrlOf, CODING_AGENTS } from "./agents.ts";

const model = create(ModelSchema, { id: 'acme/large:v1.2"', name: "Acme", contextLength: 1000, maxOutputTokens: 100 });
const place = { origin: "https://saldo.example", secret: null };

describe("the coding agents", () => {
  it("each have a command and a manual configuration with base URL, key and model", () => {
    expect(CODING_AGENTS).toHaveLength(11);
    for (const agent of CODING_AGENTS) {
      const files = agent.files(model, place);
      const text = files.map(({ content }) => content).join("\n");
      expect(text, agent.id).toContain(`"${baseUrlOf(agent, "https://saldo.example")}"`);
      expect(text, agent.id).toContain(agent.needsKeyInFile ? "gw_…" : "SALDO_API_KEY");
      expect(text, agent.id).toContain(String.raw`acme/large:v1.2\"`);
      for (const { path, content } of files) if (path.endsWith(".json")) JSON.parse(content);
    }
  });

  it("send a key over plain http only with an explicit option", () => {
    const [agent] = CODING_AGENTS;
    if (agent === undefined) throw new Error("there are agents");
    const command = (origin: string) => agentsCommand(agent, model, { origin, secret: "gw_abc" });
    expect(command("https://saldo.example")).toBe(
      "export SALDO_API_KEY=gw_abc\nnpx -y https://saldo.example/saldo-agents.tgz apply -m 'acme/large:v1.2\"' --agents opencode -y",
    );
    expect(command("http://127.0.0.1:3000")).not.toContain("--insecure");
    expect(command("http://10.0.0.2:3000")).toContain("--insecure");
  });
});
