import { create } from "@bufbuild/protobuf";
import { MatchableResource, MatchingAttributesSchema } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { AttributeService } from "@flyte-ts/idl/flytets/admin/v1/attributes_pb";
import { Code, createClient } from "@flyte-ts/rpc";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import type { AttributeScope } from "../store/attribute-lookup.js";
import { storeAttributes } from "../store/attributes.js";

let database: AdminDatabase;
let admin: ServedAdmin;
beforeAll(async () => {
  database = await adminDatabase();
  admin = await serveAdmin({ db: database.db });
});
afterAll(async () => {
  await admin.stop();
  await database.stop();
});

const store = (scope: AttributeScope, clusterPoolName: string) =>
  storeAttributes(database.db, {
    kind: MatchableResource.CLUSTER_ASSIGNMENT,
    scope,
    attributes: create(MatchingAttributesSchema, { target: { case: "clusterAssignment", value: { clusterPoolName } } }),
    now: new Date(0),
  });
const list = (request: { readonly project: string; readonly domain: string }) =>
  createClient({ channel: admin.channel, service: AttributeService }).listAttributes(request);

test("attributes of the project, of the domain and of its workflows are listed by precedence", async () => {
  await store({ project: "p" }, "project");
  await store({ project: "p", domain: "d", workflow: "w" }, "workflow");
  await store({ project: "p", domain: "d" }, "domain");
  await store({ project: "p", domain: "other" }, "other domain");
  await store({ project: "q" }, "other project");
  const label = create(MatchingAttributesSchema, { target: { case: "executionClusterLabel", value: { value: "gpu" } } });
  await storeAttributes(database.db, {
    kind: MatchableResource.EXECUTION_CLUSTER_LABEL,
    scope: { project: "p" },
    attributes: label,
    now: new Date(0),
  });
  const { configurations, truncated } = await list({ project: "p", domain: "d" });
  expect(configurations.map(({ domain, workflow, attributes }) => [domain, workflow, attributes?.target.value])).toMatchObject([
    ["", "", { value: "gpu" }],
    ["d", "w", { clusterPoolName: "workflow" }],
    ["d", "", { clusterPoolName: "domain" }],
    ["", "", { clusterPoolName: "project" }],
  ]);
  expect(truncated).toBe(false);
});

test("the list is limited, and a request without a domain is invalid", async () => {
  for (let workflow = 0; workflow < 201; workflow++) await store({ project: "many", domain: "d", workflow: `w${workflow}` }, "x");
  const { configurations, truncated } = await list({ project: "many", domain: "d" });
  expect([configurations.length, truncated]).toEqual([200, true]);
  await expect(list({ project: "p", domain: "" })).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
});
