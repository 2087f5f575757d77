import { createRpcServer } from "@flyte-ts/rpc";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { MemoryStore, pluginConformance, type PluginEnvironment, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, describe, expect, it } from "vitest";
import { type ConnectorService, connectorService } from "./connector-service.js";
import { testSettings } from "./settings.fixture.js";
import { ToyConnector } from "./toy-connector.fixture.js";

const logger = createLogger({ service: "test", level: "silent" });
const connector = new ToyConnector();
const server = createRpcServer({ logger, services: connector.services() });
const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
afterAll(() => server.drain({ deadlineMs: 100 }));

/** A connector on a real gRPC server, and the service; `idle` waits for the service's calls. */
function connectorWorld(): PluginEnvironment {
  connector.jobs.clear();
  const store = new MemoryStore();
  const services: ConnectorService[] = [];
  const jobOf = ({ outputPrefix }: { readonly outputPrefix: string }) => connector.jobs.get(outputPrefix);
  const settings = testSettings({
    endpoints: [{ name: "toys", address: `127.0.0.1:${port}` }],
  });
  const idle = async () => {
    for (let quiet = 0; quiet < 3; quiet++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (services.some((service) => service.openCalls() > 0)) quiet = 0;
    }
  };
  return {
    plugin: (clock) => {
      const service = connectorService({ config: settings, store, clock, logger, random: () => 0.5 });
      services.push(service);
      return service.plugin;
    },
    settle: idle,
    request: () => sampleRequest("toy"),
    invalidRequest: () => {
      const request = sampleRequest("toy");
      if (request.template !== undefined) request.template.taskTypeVersion = 7;
      return request;
    },
    complete: async (request, clock) => {
      const job = jobOf(request);
      if (job !== undefined) job.resource = { phase: Phase.SUCCEEDED };
      await clock.advance(20_000);
      await idle();
    },
    startCount: (request) => jobOf(request)?.starts ?? 0,
    isRunning: (request) => jobOf(request)?.resource.phase === Phase.RUNNING,
  };
}

describe("the connector plugin keeps the contract", () => {
  it.each(pluginConformance(connectorWorld))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
