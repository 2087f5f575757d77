import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { ExecutionCreateRequestSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { onBehalfOf } from "@flyte-ts/auth";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { AuthMetadataService } from "@flyte-ts/idl/flyteidl/service/auth_pb";
import { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { IdentityService } from "@flyte-ts/idl/flyteidl/service/identity_pb";
import { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import { AuditService, RoleService } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import type { DescService } from "@bufbuild/protobuf";
import { type CallOptions, Code, createClient, type ServiceClient } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { type TokenIssuer, tokenIssuer } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { id, integer, registerLaunchPlan, registerWorkflow } from "../../executions/execution/registered-workflow.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";

let database: AdminDatabase;
let idp: TokenIssuer;
let admin: ServedAdmin;
const logFile = join(mkdtempSync(join(tmpdir(), "flyte-ts-test-log-")), "log");
beforeAll(async () => {
  [database, idp] = await Promise.all([adminDatabase(), tokenIssuer()]);
  const ownProject = { project: "flytesnacks", domain: "development" };
  const roles = [
    { subject: "ann", role: "admin", ...ownProject },
    { group: "runners", role: "runner", ...ownProject },
    { group: "readers", role: "viewer", project: "other" },
    { subject: "engine", role: "engine" },
    { subject: "root", role: "admin" },
    { subject: "both", role: "contributor", ...ownProject },
    { subject: "both", role: "viewer", project: "other" },
    { subject: "far", role: "runner", ...ownProject },
    { subject: "far", role: "viewer", project: "other-development" },
  ];
  const auth = { mode: "required", publicUrl: "https://flyte.test", providers: [{ issuer: idp.issuer }], roles };
  const config = adminConfigSchema.parse({ auth, projects: ["flytesnacks", "other"] });
  const logger = createLogger({ service: "test", level: "trace", fd: openSync(logFile, "w") });
  admin = await serveAdmin({ db: database.db, config, logger });
  const root = as(AdminService, "root");
  await registerWorkflow(root);
  await registerLaunchPlan(root, "lp");
  for (const name of ["t", "t2"]) {
    await root.createTask({
      id: { ...id(ResourceType.TASK, name), project: "other" },
      spec: { template: { type: "x", metadata: {}, interface: {}, target: { case: "container", value: { image: "i" } } } },
    });
  }
});
afterAll(async () => {
  await admin.stop();
  await Promise.all([database.stop(), idp.stop()]);
  rmSync(dirname(logFile), { recursive: true });
});

/** Creates a client whose calls carry a token of the subject. */
function as<Service extends DescService>(service: Service, sub: string, claims: object = {}): ServiceClient<Service> {
  const client = createClient({ channel: admin.channel, service }) as Record<string, (request: unknown, options?: CallOptions) => unknown>;
  const metadata = { authorization: `Bearer ${idp.token({ sub, ...claims })}` };
  return new Proxy(client, {
    get: (target, name) => (request: unknown) => target[String(name)]?.(request, { metadata }),
  }) as unknown as ServiceClient<Service>;
}

const mine = { project: "flytesnacks", domain: "development" };
const other = { project: "other", domain: "development" };
const launch = (name: string, changes: object = {}) => ({
  ...mine,
  name,
  spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "lp"), metadata: {}, ...changes },
  inputs: { literals: { x: integer(1n) } },
});
const parentNode = { nodeId: "n0", executionId: { ...mine, name: "e1" } };

const denied = (words: RegExp) => expect.objectContaining({ code: Code.PERMISSION_DENIED, message: expect.stringMatching(words) });
const viewerOfOther = denied(/viewer is needed in project "other", domain "development"/);

test.each<[string, () => Promise<unknown>, unknown]>([
  [
    "an execution of another project's launch plan",
    () => as(AdminService, "ann").createExecution(launch("x1", { launchPlan: { ...id(ResourceType.LAUNCH_PLAN, "lp"), ...other } })),
    viewerOfOther,
  ],
  [
    "a recovery of an execution of another project",
    () => as(AdminService, "ann").createExecution(launch("x2", { metadata: { referenceExecution: { ...other, name: "e" } } })),
    viewerOfOther,
  ],
  [
    "an execution that claims to be a child",
    () => as(AdminService, "ann").createExecution(launch("x3", { metadata: { parentNodeExecution: parentNode } })),
    denied(/role engine is needed in project "flytesnacks"/),
  ],
  [
    "a workflow of another project's tasks, deep in a branch",
    () =>
      as(AdminService, "ann").createWorkflow({
        id: id(ResourceType.WORKFLOW, "w2"),
        spec: {
          template: {
            nodes: [
              {
                id: "n0",
                target: {
                  case: "branchNode",
                  value: { ifElse: { case: { thenNode: taskNode("t") }, other: [{ thenNode: taskNode("t2") }] } },
                },
              },
            ],
          },
        },
      }),
    viewerOfOther,
  ],
  [
    "a launch plan of another project's workflow",
    () =>
      as(AdminService, "ann").createLaunchPlan({
        id: id(ResourceType.LAUNCH_PLAN, "lp2"),
        spec: { workflowId: { ...id(ResourceType.WORKFLOW, "w"), ...other } },
      }),
    viewerOfOther,
  ],
  [
    "a relaunch in another project",
    () => as(AdminService, "ann").relaunchExecution({ id: { ...other, name: "e" } }),
    denied(/role runner/),
  ],
  [
    "an upload into another project's folder through the organization",
    () => as(DataProxyService, "ann").createUploadLocation({ ...mine, org: "other/development", filename: "f", filenameRoot: "r" }),
    denied(/role runner is needed in all projects/),
  ],
  [
    "a download by a URL with escapes",
    () =>
      as(DataProxyService, "ann").createDownloadLocation({
        nativeUrl: "s3://my-s3-bucket/flytesnacks/development/../../other/development/x",
      }),
    denied(/role viewer is needed in all projects/),
  ],
  [
    "a download of another bucket",
    () => as(DataProxyService, "ann").createDownloadLocation({ nativeUrl: "s3://secrets/flytesnacks/development/x" }),
    denied(/role viewer is needed in all projects/),
  ],
  [
    "data of another project by a flyte:// URL",
    () => as(DataProxyService, "ann").getData({ flyteUrl: "flyte://v1/other/development/e/n0/i" }),
    viewerOfOther,
  ],
  [
    "events of another project's execution",
    () => as(AdminService, "ann").createWorkflowEvent({ event: { executionId: { ...mine, name: "e1" } } }),
    denied(/role engine/),
  ],
  [
    "a grant of a role in another project",
    () => as(RoleService, "ann").putRoleBinding({ binding: { holder: { case: "subject", value: "ann" }, role: "viewer", ...other } }),
    denied(/role admin is needed in project "other"/),
  ],
  [
    "a grant of a global role",
    () =>
      as(RoleService, "ann").putRoleBinding({
        binding: { holder: { case: "subject", value: "ann" }, role: "admin", project: "*", domain: "*" },
      }),
    denied(/role admin is needed in all projects/),
  ],
  [
    "a grant of the role engine",
    () => as(RoleService, "ann").putRoleBinding({ binding: { holder: { case: "subject", value: "ann" }, role: "engine", ...mine } }),
    denied(/role admin is needed in all projects/),
  ],
  ["the global audit log", () => as(AuditService, "ann").listAuditEntries({}), denied(/role admin is needed in all projects/)],
])("%s is refused", async (_, call, refusal) => {
  await expect(call()).rejects.toEqual(refusal);
});

const ofOther = "s3://my-s3-bucket/metadata/propeller/other-development-e/n0/data/0/o0_offloaded_metadata.pb";
const viewerEverywhere = denied(/role viewer is needed in all projects/);

test.each<[string, string, unknown]>([
  ["of another project's execution", ofOther, viewerOfOther],
  ["of another project's upload", "s3://my-s3-bucket/other/development/hash/o0.pb", viewerOfOther],
  ["of another bucket", "s3://secrets/flytesnacks/development/o0.pb", viewerEverywhere],
  ["of admin", "s3://my-s3-bucket/metadata/admin/flytesnacks/development/w/v1", viewerEverywhere],
  [
    "that escapes from its folder",
    "s3://my-s3-bucket/metadata/propeller/flytesnacks-development-e/../other-development-e/o0.pb",
    viewerEverywhere,
  ],
])("an execution whose input is an object %s is refused, at any depth and for older clients", async (_, uri, refusal) => {
  const bob = as(AdminService, "bob", { groups: ["runners"] });
  const x = offloaded(uri);
  await expect(bob.createExecution({ ...launch("o1"), inputs: { literals: { x } } })).rejects.toEqual(refusal);
  const nested = {
    value: { case: "collection" as const, value: { literals: [{ value: { case: "map" as const, value: { literals: { x } } } }] } },
  };
  await expect(bob.createExecution({ ...launch("o2"), inputs: { literals: { x: nested } } })).rejects.toEqual(refusal);
  await expect(bob.createExecution({ ...launch("o3", { inputs: { literals: { x } } }), inputs: {} })).rejects.toEqual(refusal);
});

test.each<[string, string, () => ServiceClient<typeof AdminService>]>([
  ["its own project's execution", ofOther.replace("other-", "flytesnacks-"), () => as(AdminService, "bob", { groups: ["runners"] })],
  ["its own project's upload", "s3://my-s3-bucket/flytesnacks/development/hash/o0.pb", () => as(AdminService, "ann")],
  ["another project that its caller may read", ofOther, () => as(AdminService, "both")],
  // Propeller passes on what tasks have offloaded, wherever that is.
  ["another bucket, for propeller", "s3://bucket/o0.pb", () => as(AdminService, "engine")],
])("an execution may take an offloaded value of %s", async (_, uri, admin) => {
  const { id } = await admin().createExecution({ ...launch(""), inputs: { literals: { x: offloaded(uri) } } });
  expect(id).toMatchObject(mine);
});

test("an object in a folder of which two projects could be the owner needs a role in both", async () => {
  const uri = "s3://my-s3-bucket/metadata/propeller/other-development-development-e/n0/data/0/o0.pb";
  const create = (who: string) => as(AdminService, who).createExecution({ ...launch("o8"), inputs: { literals: { x: offloaded(uri) } } });
  await expect(create("far")).rejects.toEqual(viewerOfOther);
  await expect(create("both")).rejects.toEqual(denied(/role viewer is needed in project "other-development", domain "development"/));
});

const getOther = { id: { ...id(ResourceType.TASK, "t"), ...other } };

/** Reads a task of the other project as a service does for an execution. */
async function readFor(execution: string, who = "engine"): Promise<string | undefined> {
  const metadata = { authorization: `Bearer ${idp.token({ sub: who })}`, ...onBehalfOf({ ...mine, name: execution }) };
  return (await createClient({ channel: admin.channel, service: AdminService }).getTask(getOther, { metadata })).id?.name;
}

test("a service that reads for an execution needs the rights of its launcher, which children inherit", async () => {
  const launched = async (name: string, who: string, claims: object = {}, metadata: object = {}) =>
    as(AdminService, who, claims).createExecution(launch(name, { metadata }));
  await launched("by-bob", "bob", { groups: ["runners"] });
  await launched("by-both", "both");
  await expect(readFor("by-bob")).rejects.toEqual(denied(/^"bob" may not call .*GetTask: role viewer is needed in project "other"/));
  expect(await readFor("by-both")).toBe("t");
  await launched("by-group", "carl", { groups: ["runners", "readers"] });
  const child = (of: string) => ({ parentNodeExecution: { nodeId: "n0", executionId: { ...mine, name: of } }, nesting: 1 });
  await launched("child-of-bob", "engine", {}, child("by-bob"));
  await launched("child-of-group", "engine", {}, child("by-group"));
  await expect(readFor("child-of-bob")).rejects.toEqual(denied(/^"bob" may not call/));
  expect([await readFor("by-group"), await readFor("child-of-group")]).toEqual(["t", "t"]);
  // The relaunch of one's execution by another caller has the rights of that caller.
  await as(AdminService, "bob", { groups: ["runners"] }).relaunchExecution({ id: { ...mine, name: "by-group" }, name: "again" });
  await expect(readFor("again")).rejects.toEqual(denied(/^"bob" may not call/));
});

test("executions that services launch by themselves give no rights in other projects", async () => {
  await as(AdminService, "engine").createExecution(launch("scheduled"));
  await expect(readFor("scheduled")).rejects.toEqual(denied(/^"engine" may not call .*role viewer is needed in project "other"/));
});

test("only an engine may call for an execution, and the execution must exist", async () => {
  await expect(readFor("by-both", "both")).rejects.toEqual(denied(/role engine is needed in project "flytesnacks"/));
  await expect(readFor("absent")).rejects.toMatchObject({ code: Code.NOT_FOUND });
});

test("a signal whose value is an object of another project is refused", async () => {
  const signal = { id: { signalId: "s", executionId: { ...mine, name: "e1" } }, value: offloaded(ofOther) };
  await expect(as(SignalService, "ann").setSignal(signal)).rejects.toEqual(viewerOfOther);
});

function offloaded(uri: string) {
  const inferredType = { type: { case: "simple" as const, value: SimpleType.INTEGER } };
  return { value: { case: "offloadedMetadata" as const, value: { uri, inferredType } } };
}

function taskNode(name: string) {
  const reference = { case: "referenceId" as const, value: { ...id(ResourceType.TASK, name), project: "other" } };
  return { id: name, target: { case: "taskNode" as const, value: { reference } } };
}

test("a viewer's execution may use the tasks that the viewer may read", async () => {
  const workflow = (name: string) => ({
    id: id(ResourceType.WORKFLOW, name),
    spec: { template: { id: id(ResourceType.WORKFLOW, name), metadata: {}, interface: {}, nodes: [taskNode("t")] } },
  });
  await expect(as(AdminService, "ann").createWorkflow(workflow("uses"))).rejects.toEqual(viewerOfOther);
  await as(AdminService, "both").createWorkflow(workflow("uses"));
});

test("executions record who created, archived and aborted them", async () => {
  const bob = as(AdminService, "bob", { groups: ["runners"] });
  await bob.createExecution(launch("e1"));
  await as(AdminService, "ann").terminateExecution({ id: { ...mine, name: "e1" }, cause: "enough" });
  await as(AdminService, "ann").updateExecution({ id: { ...mine, name: "e1" }, state: 1 });
  const { spec, closure } = await bob.getExecution({ id: { ...mine, name: "e1" } });
  expect(spec?.metadata?.principal).toBe("bob");
  expect(closure?.outputResult).toMatchObject({ case: "abortMetadata", value: { cause: "enough", principal: "ann" } });
  expect(closure?.stateChangeDetails?.principal).toBe("ann");
  const request = create(ExecutionCreateRequestSchema, launch("e2", { metadata: { principal: "root" } }));
  await bob.createExecution(request);
  expect((await bob.getExecution({ id: { ...mine, name: "e2" } })).spec?.metadata?.principal).toBe("bob");
});

test("projects are listed for callers with a role in them", async () => {
  const names = async (who: string) => (await as(AdminService, who).listProjects({})).projects.map((project) => project.id).sort();
  expect(await names("ann")).toEqual(["flytesnacks"]);
  expect(await names("both")).toEqual(["flytesnacks", "other"]);
  expect(await names("root")).toEqual(["flytesnacks", "other"]);
  const filtered = await as(AdminService, "ann").listProjects({ filters: "eq(identifier,other)" });
  expect(filtered.projects).toEqual([]);
});

test("the audit log records changes, also refused ones, and no reads", async () => {
  const metadata = { "x-request-id": "the-one" };
  const bob = createClient({ channel: admin.channel, service: AdminService });
  const authorization = `Bearer ${idp.token({ sub: "bob", client_id: "flytectl", groups: ["runners"] })}`;
  await bob.createExecution(launch("audited"), { metadata: { ...metadata, authorization } });
  await expect(bob.updateProject({ id: "flytesnacks" }, { metadata: { authorization } })).rejects.toEqual(denied(/admin/));
  await expect(bob.createExecution(launch("audited"), { metadata: { authorization } })).rejects.toMatchObject({
    code: Code.ALREADY_EXISTS,
  });
  const { entries } = await as(AuditService, "root").listAuditEntries({ subject: "bob", limit: 3 });
  expect(entries.map(({ method, code }) => [method, code])).toEqual([
    ["flyteidl.service.AdminService/CreateExecution", "ALREADY_EXISTS"],
    ["flyteidl.service.AdminService/UpdateProject", "PERMISSION_DENIED"],
    ["flyteidl.service.AdminService/CreateExecution", "OK"],
  ]);
  expect(entries[2]).toMatchObject({ ...mine, subject: "bob", clientId: "flytectl", requestId: "the-one", transport: "grpc" });
  expect(JSON.parse(entries[2]?.identifiers ?? "")).toMatchObject({
    ...mine,
    name: "audited",
    spec: { launch_plan: { name: "lp", version: "v1" } },
  });
  expect(entries[2]?.identifiers).not.toContain("created");
  const { id } = await bob.createExecution({ ...launch("audited"), name: "" }, { metadata: { authorization } });
  const [generated] = (await as(AuditService, "root").listAuditEntries({ subject: "bob", limit: 1 })).entries;
  expect(JSON.parse(generated?.identifiers ?? "")).toMatchObject({ created: { ...mine, name: id?.name } });
  const all = await as(AuditService, "root").listAuditEntries({ limit: 1_000 });
  expect(all.entries.filter(({ method }) => /\/(Get|List)/.test(method))).toEqual([]);
  expect(all.token).toBe("");
  const first = await as(AuditService, "ann").listAuditEntries({ ...mine, limit: 1 });
  const second = await as(AuditService, "ann").listAuditEntries({ ...mine, limit: 1, token: first.token });
  expect(second.entries[0]).not.toEqual(first.entries[0]);
  await expect(as(AuditService, "root").listAuditEntries({ token: "1; DROP" })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
});

test("a change that cannot be recorded in the audit log is not made", async () => {
  await database.db.query({ text: "ALTER TABLE audit_log RENAME TO audit_log_away" });
  try {
    await expect(as(AdminService, "ann").createExecution(launch("unnoted"))).rejects.toMatchObject({ code: Code.INTERNAL });
  } finally {
    await database.db.query({ text: "ALTER TABLE audit_log_away RENAME TO audit_log" });
  }
  await expect(as(AdminService, "ann").getExecution({ id: { ...mine, name: "unnoted" } })).rejects.toMatchObject({ code: Code.NOT_FOUND });
});

test("roles can be granted and revoked at run time", async () => {
  const listOwn = () => as(AdminService, "eve", { groups: ["g"] }).listTasks({ id: mine, limit: 1 });
  await expect(listOwn()).rejects.toEqual(denied(/role viewer is needed in project "flytesnacks", domain "development"/));
  const binding = { holder: { case: "group" as const, value: "g" }, role: "viewer", ...mine };
  await as(RoleService, "ann").putRoleBinding({ binding });
  await as(RoleService, "ann").putRoleBinding({ binding });
  await listOwn();
  const { bindings } = await as(RoleService, "root").listRoleBindings({});
  expect(bindings.filter(({ configured }) => !configured)).toMatchObject([binding]);
  await as(RoleService, "ann").deleteRoleBinding({ binding });
  await expect(listOwn()).rejects.toEqual(denied(/viewer/));
  const wrong = { ...binding, role: "owner" };
  await expect(as(RoleService, "root").putRoleBinding({ binding: wrong })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
});

test("callers learn where to sign in and who they are", async () => {
  const metadata = createClient({ channel: admin.channel, service: AuthMetadataService });
  expect(await metadata.getPublicClientConfig({})).toMatchObject({
    clientId: "flytectl",
    redirectUri: "http://localhost:53593/callback",
    scopes: ["all", "offline"],
    authorizationMetadataKey: "flyte-authorization",
    serviceHttpEndpoint: "https://flyte.test",
  });
  expect(await metadata.getOAuth2Metadata({})).toMatchObject({
    issuer: idp.issuer,
    tokenEndpoint: `${idp.issuer}/token`,
    jwksUri: `${idp.issuer}/jwks`,
  });
  const identity = await as(IdentityService, "ann", { name: "Ann A", email: "ann@example.com", groups: ["g"] }).userInfo({});
  expect(identity).toMatchObject({ subject: "ann", name: "Ann A", email: "ann@example.com", additionalClaims: { groups: ["g"] } });
});

test("no log line contains a token or signature", async () => {
  const token = idp.token({ sub: "root", iss: "https://nobody.test" });
  for (const value of [token, idp.token({ sub: "root" }), "Bearer-of-nothing"]) {
    const call = createClient({ channel: admin.channel, service: AdminService }).listProjects(
      {},
      { metadata: { authorization: `Bearer ${value}` } },
    );
    await call.catch(() => undefined);
    await fetch(`http://127.0.0.1:${admin.port}/api/v1/projects?authorization=${value}`, { headers: { authorization: `Bearer ${value}` } });
  }
  const text = readFileSync(logFile, "utf8");
  expect(text).toContain("call failed");
  for (const part of [token, ...token.split("."), "Bearer"]) expect(text).not.toContain(part);
});
