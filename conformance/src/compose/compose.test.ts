import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { integerLiteral } from "@flyte-ts/domain/literal";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { NodeExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { examplesFolder, scope } from "../examples/example-runs.js";
import { retryWhileUnavailable, waitForEnd } from "../stack/executions.js";
import { performedTargets, REQUESTS, SENDERS, type Target } from "../attack/web/browser-requests.fixture.js";
import { COMPOSE_SERVICES, ComposeProject, DEPLOYED_IDS, REVISION } from "./compose-project.js";

/** Services of this project. */
const OWN_SERVICES = COMPOSE_SERVICES.filter((service) => !["postgres", "nats", "api"].includes(service));
/** Port of the proxy's readiness check. */
const PROXY_HEALTH = 8404;
/** Duration of a container's outage, ms. */
const OUTAGE_MS = 30_000;
const TIMEOUT_MS = 600_000;

// Needs a Docker engine with compose; see docs/guides/test.md for machines that reach no registry.
describe.skipIf(process.env.E2E_DOCKER !== "1")("docker compose", () => {
  let project: ComposeProject;
  let client: FlyteClient;

  beforeAll(async () => {
    project = await ComposeProject.build("flyte-ts-e2e");
    project.remove();
    project.compose("up", "-d", "--wait");
    client = createFlyteClient({ endpoint: `127.0.0.1:${project.api}` });
    project.pyflyte(join(examplesFolder, "..", "..", "conformance", "python"), "register", "--version", "v1", "twenty.py");
  }, 1_800_000);
  afterAll(() => {
    client?.close();
    project?.remove();
  }, 120_000);

  const startTwenty = async (): Promise<string> => {
    const launchPlan = { ...scope, resourceType: ResourceType.LAUNCH_PLAN, name: "twenty.twenty", version: "v1" };
    const { id } = await client.admin.createExecution({
      ...scope,
      spec: { launchPlan, metadata: {} },
      inputs: { literals: { n: integerLiteral(0) } },
    });
    return id?.name ?? "";
  };
  const succeededNodes = async (name: string): Promise<number> => {
    const { nodeExecutions } = await retryWhileUnavailable(() =>
      client.admin.listNodeExecutions({ workflowExecutionId: { ...scope, name }, limit: 100 }),
    );
    return nodeExecutions.filter(({ id, closure }) => /^n\d+$/.test(id?.nodeId ?? "") && closure?.phase === NodeExecution_Phase.SUCCEEDED)
      .length;
  };
  const expectTwenty = async (name: string): Promise<void> => {
    const { closure } = await waitForEnd(client, { ...scope, name }, TIMEOUT_MS);
    const error = closure?.outputResult.case === "error" ? closure.outputResult.value.message : "";
    expect([WorkflowExecution_Phase[closure?.phase ?? 0], error]).toEqual(["SUCCEEDED", ""]);
    expect(await succeededNodes(name)).toBe(20);
    const { fullOutputs } = await retryWhileUnavailable(() => client.admin.getExecutionData({ id: { ...scope, name } }));
    expect(fullOutputs?.literals.o0).toEqual(integerLiteral(20));
  };

  test("unmodified pyflyte runs the training workflow and waits for it", () => {
    const args = ["--wait", "example.py", "training_workflow", "--hyperparameters", '{"C": 0.4}'];
    expect(project.pyflyte(examplesFolder, "run", "--remote", ...args)).toMatch(/Execution \S+ has succeeded/);
  }, 600_000);

  // A browser on this machine reaches every port of every container by the container's address,
  // published or not.
  describe("requests of pages of other origins", () => {
    let targets: Target[];
    beforeAll(() => {
      const containers = Object.entries(project.containers());
      const all = containers
        .flatMap(([name, { address, ports }]) => ports.map((port) => ({ name, address, port })))
        // The proxy's port for health and counters reports "ready" to every client, and no page can
        // read it.
        .filter(({ name, port }) => name !== "api" || port !== PROXY_HEALTH);
      targets = [{ name: "published", address: "127.0.0.1", port: project.api }, ...all];
    });

    describe.each(Object.entries(SENDERS))("%s", (_, sender) => {
      test.each(REQUESTS)("%s %s is refused by every listener", async (method, path) => {
        expect(await performedTargets(targets, sender, [method, path])).toEqual([]);
      });
    });
  });

  test("containers run without privileges and can write only to their volumes", () => {
    const probe = `try { require("fs").writeFileSync("/x", ""); console.log("wrote"); } catch (error) { console.log(error.code, process.getuid()); }`;
    for (const service of ["admin", "propeller", "plugin-pod", "cluster", "blobs"])
      expect(project.compose("exec", "-T", service, "/usr/local/bin/node", "-e", probe).trim()).toBe("EROFS 65532");
  });

  test("images have labels and an SBOM, and contain no shell", async () => {
    const services = [...DEPLOYED_IDS, "local-blobstore"];
    for (const name of services) {
      const { User, Labels } = project.image(name).Config;
      expect([User, Labels["org.opencontainers.image.version"], Labels["org.opencontainers.image.revision"]]).toEqual([
        "65532:65532",
        "dev",
        REVISION,
      ]);
    }
    const read = 'process.stdout.write(fs.readFileSync("/app/sbom.cdx.json", "utf8"))';
    const bill = JSON.parse(project.compose("exec", "-T", "admin", "/usr/local/bin/node", "-e", read)) as {
      bomFormat: string;
      components: { name: string; version: string; hashes?: object[] }[];
    };
    expect(bill.bomFormat).toBe("CycloneDX");
    expect(bill.components.find(({ name }) => name === "pg")).toMatchObject({ version: "8.23.1", hashes: [{ alg: "SHA-512" }] });
    expect(bill.components.map(({ name }) => name)).not.toContain("typescript");
    expect(() => project.compose("exec", "-T", "admin", "/bin/sh", "-c", "true")).toThrow(/no such file|not found/);
    expect((await client.admin.getVersion({})).controlPlaneVersion).toMatchObject({
      Version: "v1.16.8",
      Build: `flyte-ts dev (${REVISION})`,
    });
  });

  test("three replicas of admin share one address", async () => {
    project.compose("up", "-d", "--wait", "--no-recreate", "--scale", "admin=3");
    const replicas = project.compose("ps", "--format", "{{.Name}}", "admin").trim().split("\n");
    expect(replicas).toHaveLength(3);
    const count = '/call_seconds_count\\{method="ListProjects",code="OK"\\} (\\d+)/';
    const read = `fetch("http://127.0.0.1:10254/metrics").then(r=>r.text()).then(t=>console.log(${count}.exec(t)?.[1] ?? 0))`;
    const callsOf = (container: string) => {
      const index = container.split("-").at(-1) ?? "";
      return Number(project.compose("exec", "-T", "--index", index, "admin", "/usr/local/bin/node", "-e", read));
    };
    const leastCalls = async () => {
      for (let call = 0; call < 15; call++) {
        const fresh = createFlyteClient({ endpoint: `127.0.0.1:${project.api}` });
        expect((await fresh.admin.listProjects({})).projects.map(({ id }) => id)).toContain("flytesnacks");
        fresh.close();
      }
      return Math.min(...replicas.map(callsOf));
    };
    await expect.poll(leastCalls, { timeout: 60_000, interval: 500 }).toBeGreaterThan(0);
    project.compose("up", "-d", "--wait", "--no-recreate", "--scale", "admin=1");
  }, 600_000);

  const only = process.env.E2E_DOCKER_KILL?.split(",");
  test.each(COMPOSE_SERVICES.filter((service) => only?.includes(service) ?? true))(
    "a workflow of 20 tasks survives an outage of %s of 30 s",
    async (service) => {
      await project.waitUntilHealthy(TIMEOUT_MS);
      const name = await startTwenty();
      await expect.poll(() => succeededNodes(name), { timeout: TIMEOUT_MS, interval: 250 }).toBeGreaterThanOrEqual(3);
      project.compose("kill", service);
      await sleep(OUTAGE_MS);
      project.compose("start", service);
      await expectTwenty(name);
    },
    TIMEOUT_MS * 3,
  );

  test(
    "all data survives down and up",
    async () => {
      const list = async () =>
        (await retryWhileUnavailable(() => client.admin.listExecutions({ id: scope, limit: 100 }))).executions.map(({ id, closure }) => [
          id?.name,
          closure?.phase,
        ]);
      const name = await startTwenty();
      const before = await list();
      // Services exit by themselves with status 0 when they are asked to stop.
      project.compose("stop", "--timeout", "30");
      expect(project.exitCodes()).toMatchObject(Object.fromEntries(OWN_SERVICES.map((service) => [service, 0])));
      project.compose("down");
      project.compose("up", "-d", "--wait");
      const after = await list();
      expect(after.map(([id]) => id)).toEqual(before.map(([id]) => id));
      // The execution that was running continues.
      await expectTwenty(name);
    },
    TIMEOUT_MS * 2,
  );
});
