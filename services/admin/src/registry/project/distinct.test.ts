import { Code } from "@flyte-ts/rpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { commonNamespace } from "./distinct.js";

const config = adminConfigSchema.parse({});
const domains = (...ids: string[]) => ({ ...config, domains: ids.map((id) => ({ id, name: id })) });
const oneWord = "{{ project }}{{ domain }}";

test.each([
  ["a", "a-b", domains("c", "b-c"), "a-b-c"],
  ["a", "ab", { ...domains("bc", "c"), namespaceTemplate: oneWord }, "abc"],
])("projects %s and %s share a namespace", (one, other, settings, namespace) => {
  expect([commonNamespace(one, other, settings), commonNamespace(other, one, settings)]).toEqual([namespace, namespace]);
});

test.each([
  ["team", "team2", config],
  ["team", "team-development", config],
  ["a", "a-b", domains("c", "d")],
  ["a", "b", { ...config, namespaceTemplate: "{{ domain }}" }],
])("projects %s and %s share no namespace", (one, other, settings) => {
  expect(commonNamespace(one, other, settings)).toBeUndefined();
});

describe("project registration", () => {
  let database: AdminDatabase;
  let served: ServedAdmin;
  beforeAll(async () => {
    database = await adminDatabase();
    served = await serveAdmin({ db: database.db, config: domains("production", "eu-production") });
  });
  afterAll(async () => {
    await served.stop();
    await database.stop();
  });
  const register = (id: string) => served.admin.registerProject({ project: { id, name: id } });

  test("refuses a project that shares a namespace with another, in either order", async () => {
    await register("team");
    await register("lab-eu");
    const refused = (other: string) => ({ code: Code.INVALID_ARGUMENT, message: expect.stringContaining(`[${other}]`) as string });
    await expect(register("team-eu")).rejects.toMatchObject(refused("team"));
    await expect(register("lab")).rejects.toMatchObject(refused("lab-eu"));
    await expect(register("team")).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
    await register("team-production");
  });

  test("accepts one of two conflicting concurrent registrations", async () => {
    const outcomes = await Promise.allSettled(["twin", "twin-eu"].map(register));
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  test("refuses a reserved id", async () => {
    await expect(register("metadata")).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
  });
});
