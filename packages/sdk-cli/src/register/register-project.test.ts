import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, type FlyteClient, RpcError } from "@flyte-ts/client";
import { LaunchPlanSpecSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { WorkflowSpecSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { type Identifier, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { EncodedDescription } from "@flyte-ts/runtime/describe";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LoadedBundle } from "../bundling/make-bundle.js";
import type { Project } from "../project/project.js";
import { registerProject } from "./register-project.js";

/** Admin that keeps the names of entities, and refuses one that exists, as it does. */
class FakeAdmin {
  readonly entities = new Set<string>();
  readonly activated: string[] = [];
  uploads = 0;

  client(signedUrl: string): FlyteClient {
    const get = async ({ id }: { readonly id: Identifier }) => {
      if (!this.entities.has(keyOf(id))) throw new RpcError(Code.NOT_FOUND, "missing");
    };
    const createEntity = async ({ id }: { readonly id: Identifier }) => {
      if (this.entities.has(keyOf(id))) throw new RpcError(Code.ALREADY_EXISTS, "exists");
      this.entities.add(keyOf(id));
    };
    const admin = {
      getTask: get,
      getWorkflow: get,
      getLaunchPlan: get,
      createWorkflow: createEntity,
      createLaunchPlan: createEntity,
      updateLaunchPlan: async ({ id }: { readonly id: Identifier }) => this.activated.push(id.name),
    };
    const createUploadLocation = async () => {
      this.uploads++;
      return { headers: {}, signedUrl, nativeUrl: "s3://b/bundle" };
    };
    return { admin, dataProxy: { createUploadLocation } } as unknown as FlyteClient;
  }
}

const keyOf = ({ resourceType, name, version }: Identifier): string => `${ResourceType[resourceType]} ${name} ${version}`;
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

const planSpec = create(LaunchPlanSpecSchema, { workflowId: { resourceType: ResourceType.WORKFLOW, name: "w" } });
const plan = (name: string, active: boolean) => ({ name, spec: base64(toBinary(LaunchPlanSpecSchema, planSpec)), active });
const description: EncodedDescription = {
  tasks: [],
  workflows: [base64(toBinary(WorkflowSpecSchema, create(WorkflowSpecSchema, { template: { id: { name: "w" } } })))],
  launchPlans: [plan("w", false), plan("nightly", true)],
};
const project = { project: "p", domain: "d", image: "i" } as Project;
const entity = { module: "m", needsCodeHash: false };
const bundle = {
  host: { folder: "/bundle", call: async () => description },
  listed: { entities: [{ ...entity, kind: "launchplan", name: "nightly", export: "nightly", workflow: "w" }], references: [] },
  manifest: {},
  archive: { digest: "ab", bytes: Buffer.from("bundle") },
} as unknown as LoadedBundle;

let server: Server;
beforeAll(async () => {
  server = createServer((request, response) => request.resume().on("end", () => response.end()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => server.close());

const register = (admin: FakeAdmin, options: { readonly version?: string; readonly activate?: boolean } = {}) =>
  registerProject(
    admin.client(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
    { project, bundle },
    { activate: false, ...options },
  );

describe("a second registration of the same code", () => {
  test("a registration of which nothing is new sends nothing", async () => {
    const admin = new FakeAdmin();
    const first = await register(admin);
    expect(first.created).toHaveLength(3);
    expect(await register(admin)).toEqual({ version: first.version, sentBytes: 0, created: undefined });
    expect(admin.uploads).toBe(1);
  });

  test("a registration activates launch plans that an earlier one created", async () => {
    const admin = new FakeAdmin();
    await register(admin);
    await register(admin, { activate: true });
    expect(admin.activated).toEqual(["nightly"]);
  });

  test("a registration creates the launch plan before which an earlier one was cut off", async () => {
    const admin = new FakeAdmin();
    const { version } = await register(admin);
    admin.entities.delete(`LAUNCH_PLAN w ${version}`);
    const { created } = await register(admin);
    expect(created?.filter(({ isNew }) => isNew)).toEqual([{ kind: "launch plan", name: "w", isNew: true }]);
  });

  test("admin compares the entities of a version that the user chose", async () => {
    const admin = new FakeAdmin();
    await register(admin, { version: "v1" });
    const { created } = await register(admin, { version: "v1" });
    expect(created?.map(({ isNew }) => isNew)).toEqual([false, false, false]);
  });
});
