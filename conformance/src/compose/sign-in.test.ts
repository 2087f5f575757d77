import { join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import { createBlobStore } from "@flyte-ts/blobstore";
import { Code, createClient, createFlyteClient, openChannel, RpcError } from "@flyte-ts/client";
import { DataCatalog } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import { connectBus } from "@flyte-ts/messaging";
import { createPool } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scope } from "../examples/example-runs.js";
import { root } from "../repository.js";
import { waitForEnd } from "../stack/executions.js";
import { ComposeProject, type ContainerAddress, DEPLOYED_IDS } from "./compose-project.js";

// All users of a machine reach every port of every container by the container's address, published
// or not. The engine does not distinguish users, so this test connects as its own user.

const PYTHON = join(root, "conformance", "python");
const TIMEOUT_MS = 120_000;
/** Port of health and metrics. */
const OPS = 10254;
const logger = createLogger({ service: "test", level: "silent" });

// Needs a Docker engine with compose; see docs/guides/test.md for machines that reach no registry.
describe.skipIf(process.env.E2E_DOCKER !== "1")("docker compose with FLYTE_TS_AUTH=required", () => {
  let project: ComposeProject;
  let containers: Readonly<Record<string, ContainerAddress>>;
  /** Secret of the client `flytekit`, which has the role contributor. */
  let secret: string;

  beforeAll(async () => {
    project = await ComposeProject.build("flyte-ts-e2e-sign-in", { FLYTE_TS_AUTH: "required" });
    project.remove();
    project.compose("up", "-d", "--wait");
    containers = project.containers();
    secret = project.addClient("flytekit");
  }, 1_800_000);
  afterAll(() => project?.remove(), 120_000);

  /** Address of a service's container. */
  const addressOf = (service: string): string => {
    const container = containers[service];
    if (container === undefined) throw new Error(`no container runs the service ${service}`);
    return container.address;
  };

  /** Requests a token for the client `flytekit`. */
  const flytekitToken = async (): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${project.api}/oauth2/token`, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from(`flytekit:${secret}`).toString("base64")}` },
      body: new URLSearchParams({ grant_type: "client_credentials", scope: "all" }),
    });
    return ((await response.json()) as { access_token: string }).access_token;
  };

  test("containers listen only on the ports that this test checks", () => {
    const ports = Object.fromEntries(Object.entries(containers).map(([service, container]) => [service, container.ports]));
    expect(ports).toEqual({
      postgres: [5432],
      nats: [4222],
      blobs: [OPS, 30002],
      cluster: [30086],
      admin: [OPS, 30080],
      api: [8404, 30080],
      datacatalog: [8081, OPS],
      // The other services serve no API: they listen on the port of health and metrics only.
      ...Object.fromEntries(DEPLOYED_IDS.filter((id) => id !== "admin" && id !== "datacatalog").map((id) => [id, [OPS]])),
    });
  });

  test.each([
    ["datacatalog", 8081, DataCatalog],
    ["admin", 30080, AdminService],
    ["admin", 30080, DataProxyService],
    ["admin", 30080, SignalService],
    ["api", 30080, AdminService],
    ["api", 30080, DataProxyService],
    ["api", 30080, SignalService],
  ] as const)("gRPC of %s:%d answers no call without a token", async (service, port, methods) => {
    const endpoint = `${addressOf(service)}:${port}`;
    const codes = await codesOf(endpoint, methods);
    expect(codes).toEqual(Object.fromEntries(methods.methods.map(({ name }) => [name, Code.UNAUTHENTICATED])));
  });

  test("the data catalog refuses a contributor's token", async () => {
    const metadata = { authorization: `Bearer ${await flytekitToken()}` };
    const codes = await codesOf(`${addressOf("datacatalog")}:8081`, DataCatalog, metadata);
    expect(codes).toEqual(Object.fromEntries(DataCatalog.methods.map(({ name }) => [name, Code.PERMISSION_DENIED])));
  });

  test.each([
    ["api", 30080, "GET /api/v1/projects", 401],
    ["api", 30080, "POST /api/v1/executions", 401],
    ["api", 8404, "GET /stats", 404],
    ["admin", 30080, "GET /api/v1/projects", 401],
    ["admin", 30080, "POST /api/v1/tasks", 401],
    ["blobs", 30002, "GET /", 403],
    ["blobs", 30002, "GET /my-s3-bucket?list-type=2", 403],
    ["blobs", 30002, "PUT /my-s3-bucket/planted", 403],
    ["blobs", 30002, "DELETE /my-s3-bucket", 403],
    ["cluster", 30086, "GET /api/v1/pods", 401],
    ["cluster", 30086, "GET /apis/flyte.lyft.com/v1alpha1/flyteworkflows", 401],
    ["cluster", 30086, "GET /api/v1/namespaces/flytesnacks-development/pods?watch=true", 401],
    ["cluster", 30086, "POST /api/v1/namespaces/default/pods", 401],
    ["cluster", 30086, "DELETE /api/v1/namespaces/flytesnacks-development", 401],
  ] as const)("HTTP of %s:%d: %s answers %d without credentials", async (service, port, request, status) => {
    const [method = "", path = ""] = request.split(" ");
    const body = method === "POST" || method === "PUT" ? { body: "{}", headers: { "content-type": "application/json" } } : {};
    const response = await fetch(`http://${addressOf(service)}:${port}${path}`, { method, ...body });
    expect(response.status).toBe(status);
  });

  test("the bus, the database and the blob store refuse default passwords", async () => {
    for (const user of ["", "admin:admin@", "propeller:propeller@"])
      await expect(connectBus({ url: `nats://${user}${addressOf("nats")}:4222`, name: "test", logger })).rejects.toThrow(/authorization/i);
    for (const user of ["flyte:flyte", "flyte:postgres", "postgres:postgres"]) {
      const pool = createPool({ url: `postgres://${user}@${addressOf("postgres")}:5432/flyteadmin`, logger });
      await expect(pool.query({ text: "SELECT 1" })).rejects.toThrow(/password/);
      await pool.close();
    }
    const endpoint = `http://${addressOf("blobs")}:30002`;
    const store = createBlobStore({ s3: { endpoint, accessKeyId: "minio", secretAccessKey: "miniostorage" }, azure: {} });
    await expect(store.put("s3://my-s3-bucket/planted", Buffer.from("code"))).rejects.toThrow(/InvalidAccessKeyId/);
    store.close();
  });

  test("ops listeners serve only health and metrics", async () => {
    for (const [service, { address, ports }] of Object.entries(containers)) {
      if (!ports.includes(OPS)) continue;
      for (const path of ["/", "/api/v1/projects", "/debug/pprof", "/config"])
        expect([service, path, (await fetch(`http://${address}:${OPS}${path}`)).status]).toEqual([service, path, 404]);
    }
  });

  test(
    "propeller can use the data catalog: a cached task runs once",
    async () => {
      project.pyflyte(PYTHON, "register", "--version", "v1", "cached.py");
      const authorization = `Bearer ${await flytekitToken()}`;
      const client = createFlyteClient({ endpoint: `127.0.0.1:${project.api}`, metadata: () => ({ authorization }) });
      const run = async () => {
        const launchPlan = { ...scope, resourceType: ResourceType.LAUNCH_PLAN, name: "cached.drawn", version: "v1" };
        const { id } = await client.admin.createExecution({ ...scope, spec: { launchPlan, metadata: {} } });
        const name = { ...scope, name: id?.name ?? "" };
        const { closure } = await waitForEnd(client, name, TIMEOUT_MS);
        const error = closure?.outputResult.case === "error" ? closure.outputResult.value.message : "";
        expect([WorkflowExecution_Phase[closure?.phase ?? 0], error]).toEqual(["SUCCEEDED", ""]);
        const node = await client.admin.getNodeExecution({ id: { executionId: name, nodeId: "n0" } });
        const target = node.closure?.targetMetadata;
        const status = target?.case === "taskNodeMetadata" ? CatalogCacheStatus[target.value.cacheStatus] : target?.case;
        return { status, outputs: (await client.admin.getExecutionData({ id: name })).fullOutputs };
      };
      try {
        const first = await run();
        expect(first.status).toBe("CACHE_POPULATED");
        expect(await run()).toEqual({ status: "CACHE_HIT", outputs: first.outputs });
      } finally {
        client.close();
      }
    },
    TIMEOUT_MS * 3,
  );
});

/**
 * Maps the methods of a service to the codes with which they answer an empty request; OK is
 * `undefined`.
 */
async function codesOf(endpoint: string, service: DescService, metadata: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const channel = openChannel({ endpoint, metadata: () => metadata });
  const client = createClient({ channel, service }) as unknown as Record<string, (request: object) => Promise<unknown>>;
  const codeOf = (error: unknown) => (error instanceof RpcError ? error.code : error);
  const answered = service.methods.map(async ({ name, localName }) => [name, await client[localName]?.({}).then(() => undefined, codeOf)]);
  try {
    return Object.fromEntries(await Promise.all(answered)) as Record<string, unknown>;
  } finally {
    channel.close();
  }
}
