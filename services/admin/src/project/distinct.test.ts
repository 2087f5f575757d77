import { Code } from "@flyte-ts/rpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adminConfigSchema } from "../config.js";
import { type AdminDatabase, adminDatabase } from "../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../served-admin.fixture.js";
import { meet } from "./distinct.js";

const config = adminConfigSchema.parse({});
const domains = (...ids: string[]) => ({ ...config, domains: ids.map((id) => ({ id, name: id })) });
const oneWord = "{{ project }}{{ domain }}";

describe("projects whose executions can have one place", () => {
  test.each([
    ["a folder, with the names development-x and x", "team", "team-development", config],
    ["a folder, with the names eu-development-x and x", "team", "team-development-eu", config],
    ["a namespace and a folder", "a", "a-b", domains("c", "b-c")],
    ["a namespace of another template", "a", "ab", { ...domains("bc", "c"), namespaceTemplate: oneWord }],
  ])("share %s", (_, one, other, settings) => {
    expect([meet(one, other, settings), meet(other, one, settings)]).toEqual([true, true]);
  });

  test.each([
    ["team", "team2", config],
    ["team", "team-a", config],
    ["team", "team-developments", config],
    ["team", "development", config],
    ["a", "a-b", domains("c", "d")],
    ["a", "b", { ...config, namespaceTemplate: "{{ domain }}" }],
  ])("%s and %s share none", (one, other, settings) => {
    expect(meet(one, other, settings)).toBe(false);
  });
});

describe("registration", () => {
  let database: AdminDatabase;
  let served: ServedAdmin;
  beforeAll(async () => {
    database = await adminDatabase();
    served = await serveAdmin({ db: database.db });
  });
  afterAll(async () => {
    await served.stop();
    await database.stop();
  });
  const register = (id: string) => served.admin.registerProject({ project: { id, name: id } });

  test("refuses a project that meets another, in whichever order they come", async () => {
    await register("team");
    await register("lab-production");
    const refused = (other: string) => ({ code: Code.INVALID_ARGUMENT, message: expect.stringContaining(`[${other}]`) as string });
    await expect(register("team-development")).rejects.toMatchObject(refused("team"));
    await expect(register("lab")).rejects.toMatchObject(refused("lab-production"));
    await expect(register("team")).rejects.toMatchObject({ code: Code.ALREADY_EXISTS });
    await register("team-a");
  });

  test("of two that meet and come at once, one is registered", async () => {
    const outcomes = await Promise.allSettled(["twin", "twin-staging"].map(register));
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  test("refuses a reserved id", async () => {
    await expect(register("metadata")).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
  });
});
