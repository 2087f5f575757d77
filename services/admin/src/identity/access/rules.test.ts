import { create } from "@bufbuild/protobuf";
import { assertAllMethodsHaveRules } from "@flyte-ts/auth";
import { DataCatalog } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { AgentMetadataService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import { AuthMetadataService } from "@flyte-ts/idl/flyteidl/service/auth_pb";
import { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { IdentityService } from "@flyte-ts/idl/flyteidl/service/identity_pb";
import { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import { WorkflowCreateRequestSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { AuditService, RoleService, TokenService } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import { ClusterService } from "@flyte-ts/idl/flytets/admin/v1/cluster_pb";
import { HistoryService } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import { ScheduleService } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import { expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { identifiersOf, scopeOf } from "./identifiers.js";
import { ownerOfObject, ownersOfOffloaded } from "./native-url.js";
import { offloadedPermissions, referencePermissions } from "./references.js";
import { accessRules } from "./rules.js";

const config = adminConfigSchema.parse({});
const services = [
  AdminService,
  AgentMetadataService,
  AuthMetadataService,
  DataProxyService,
  IdentityService,
  SignalService,
  AuditService,
  RoleService,
  ScheduleService,
  HistoryService,
  TokenService,
  ClusterService,
];

test("a server with a method without a rule does not start", () => {
  const table = new Map(accessRules(config));
  expect(() => assertAllMethodsHaveRules(services, table)).not.toThrow(/rule/);
  expect(() => assertAllMethodsHaveRules([...services, DataCatalog], table)).toThrow(
    /no rule says who may call .*DataCatalog\/CreateDataset/,
  );
  table.delete("flyteidl.service.AdminService/GetTask");
  expect(() => assertAllMethodsHaveRules(services, table)).toThrow("no rule says who may call flyteidl.service.AdminService/GetTask");
});

test("every rule requires a role for an empty request, and the listed rules accept a role of any project", () => {
  const table = accessRules(config);
  const anywhere = services.flatMap(({ methods }) =>
    methods.flatMap((method) => {
      const rule = table.get(`${method.parent.typeName}/${method.name}`);
      if (rule?.kind !== "roles") return [];
      const needs = rule.permissions(create(method.input));
      expect([method.name, needs.length]).not.toEqual([method.name, 0]);
      return needs.some(({ scope }) => scope.kind === "anywhere") ? [method.name] : [];
    }),
  );
  expect(anywhere.sort()).toEqual(["GetAgent", "GetDomains", "GetVersion", "ListAgents", "ListProjects"]);
});

const own = { kind: "project", project: "p", domain: "d" };
const everywhere = { kind: "everywhere" };

test.each([
  ["s3://my-s3-bucket/p/d/hash/file", own],
  ["s3://my-s3-bucket/metadata/p/d/exec/inputs", own],
  ["s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0/outputs.pb", everywhere],
  ["s3://my-s3-bucket/metadata/admin/p/d/n/v", everywhere],
  ["s3://my-s3-bucket/data/ab/xyz/file", everywhere],
  ["s3://my-s3-bucket/p/d", everywhere],
  ["s3://my-s3-bucket/p/d/", everywhere],
  ["s3://my-s3-bucket/p/d/../../q/d/file", everywhere],
  ["s3://my-s3-bucket/p/d/%2e%2e/file", everywhere],
  ["s3://my-s3-bucket//p/d/file", everywhere],
  ["s3://my-s3-bucket/p/d/file?versionId=1", everywhere],
  ["s3://my-s3-bucket-2/p/d/file", everywhere],
  ["file:///p/d/file", everywhere],
  ["", everywhere],
])("the object %s is looked up as %j", (url, scope) => {
  expect(ownerOfObject(url, config)).toEqual(scope);
});

const propeller = "s3://my-s3-bucket/metadata/propeller";
const owns = (project: string, domain = "development") => ({ kind: "project", project, domain });
test.each([
  ["s3://my-s3-bucket/p/d/hash/file", [own]],
  [`${propeller}/p-development-e/n0/data/0/o0.pb`, [owns("p")]],
  [`${propeller}/p-q-staging-e-1/n0/data/0/o0.pb`, [owns("p-q", "staging")]],
  [`${propeller}/p-development-staging-e/n0/data/0/o0.pb`, [owns("p"), owns("p-development", "staging")]],
  [`${propeller}/p-unknown-e/n0/data/0/o0.pb`, [everywhere]],
  [`${propeller}/p-development-/n0/data/0/o0.pb`, [everywhere]],
  [`${propeller}/-development-e/n0/data/0/o0.pb`, [everywhere]],
  [`${propeller}/p-development-e`, [everywhere]],
  [`${propeller}/p-development-e/../q-development-e/n0/data/0/o0.pb`, [everywhere]],
  [`${propeller}/${"p-development-".repeat(100)}e/n0/data/0/o0.pb`, [everywhere]],
  ["s3://other-bucket/metadata/propeller/p-development-e/n0/data/0/o0.pb", [everywhere]],
])("the offloaded literal %s is looked up as %j", (url, scopes) => {
  expect(ownersOfOffloaded(url, config)).toEqual(scopes);
});

test("offloaded literals of a request are found wherever it may hold literals", () => {
  const offloadedMetadata = (project: string) => ({
    value: { case: "offloadedMetadata" as const, value: { uri: `s3://my-s3-bucket/${project}/d/h/o0.pb` } },
  });
  const union = (value: object) => ({ value: { case: "scalar" as const, value: { value: { case: "union" as const, value: { value } } } } });
  const request = create(WorkflowCreateRequestSchema, {
    spec: {
      template: {
        nodes: [
          {
            inputs: [
              {
                var: "x",
                binding: { value: { case: "collection", value: { bindings: [offloadedMetadata("p"), offloadedMetadata("p")] } } },
              },
            ],
          },
          { inputs: [{ var: "x", binding: union(union({ value: { case: "map", value: { literals: { k: offloadedMetadata("q") } } } })) }] },
        ],
      },
    },
  });
  expect(offloadedPermissions(WorkflowCreateRequestSchema, request, config)).toEqual(
    ["p", "q"].map((project) => ({ role: "viewer", scope: { kind: "project", project, domain: "d" } })),
  );
});

test("references of a request are found once, for any depth and repetition", () => {
  const reference = { project: "q", domain: "d", name: "t", version: "v" };
  const node = (id: string) => ({
    id,
    target: { case: "taskNode" as const, value: { reference: { case: "referenceId" as const, value: reference } } },
  });
  const request = create(WorkflowCreateRequestSchema, {
    id: { project: "p", domain: "d" },
    spec: {
      template: { nodes: [{ id: "a", target: { case: "arrayNode", value: { node: node("i") } } }] },
      subWorkflows: [{ nodes: [node("x"), node("y")] }],
    },
  });
  expect(referencePermissions(WorkflowCreateRequestSchema, request)).toEqual(
    ["p", "q"].map((project) => ({ role: "viewer", scope: { kind: "project", project, domain: "d" } })),
  );
});

test("the audit log contains the identifiers of a request and no values", () => {
  const { createExecution, registerProject } = AdminService.method;
  const given = create(createExecution.input, {
    project: "p",
    domain: "d",
    name: "e",
    inputs: { literals: { secret: {} } },
    spec: { launchPlan: { project: "q", domain: "d", name: "lp", version: "v" }, envs: { values: [{ key: "TOKEN", value: "hidden" }] } },
  });
  const identifiers = identifiersOf(createExecution.input, given);
  expect(identifiers).toEqual({
    project: "p",
    domain: "d",
    name: "e",
    spec: { launch_plan: { project: "q", domain: "d", name: "lp", version: "v" } },
  });
  expect(scopeOf(identifiers)).toEqual({ project: "p", domain: "d" });
  const project = create(registerProject.input, { project: { id: "new", name: "New" } });
  expect(identifiersOf(registerProject.input, project)).toEqual({ project: { id: "new", name: "New" } });
});
