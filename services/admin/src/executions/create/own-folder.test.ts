import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { checkOwnFolder, collidingProjectDomains } from "./own-folder.js";

const DOMAINS = ["development", "staging", "production"];

test("most names lie in no folder of another project", () => {
  for (const name of ["f0a1b2", "my-run", "development", "development-", "x-development", "developments-x"])
    expect(collidingProjectDomains({ project: "lab", domain: "staging", name }, DOMAINS), name).toEqual([]);
});

test("a name that begins with a domain lies in the folder of a longer project, wherever the domain occurs", () => {
  const of = (project: string, domain: string, name: string) => collidingProjectDomains({ project, domain, name }, DOMAINS);
  expect(of("lab", "development", "staging-x")).toEqual([{ project: "lab-development", domain: "staging" }]);
  expect(of("lab", "development", "eu-production-x")).toEqual([{ project: "lab-development-eu", domain: "production" }]);
  expect(of("lab-development", "staging", "x")).toEqual([]);
});

test("a domain with a dash owns the folders that a shorter domain could reach", () => {
  const domains = ["a", "a-b"];
  expect(collidingProjectDomains({ project: "lab", domain: "a", name: "b-x" }, domains)).toEqual([{ project: "lab", domain: "a-b" }]);
  expect(collidingProjectDomains({ project: "lab", domain: "a-b", name: "x" }, domains)).toEqual([]);
});

test("exactly one of two executions with one folder is refused", () => {
  const domains = ["a-b", "b", "a", "a-b-c"];
  const folder = "lab-a-b-c-x";
  const executions = ["lab", "lab-a", "lab-a-b", "b"].flatMap((project) =>
    domains.flatMap((domain) =>
      folder.startsWith(`${project}-${domain}-`) ? [{ project, domain, name: folder.slice(project.length + domain.length + 2) }] : [],
    ),
  );
  expect(executions).toHaveLength(4);
  expect(executions.filter((id) => collidingProjectDomains(id, domains).length === 0)).toEqual([
    { project: "lab", domain: "a-b-c", name: "x" },
  ]);
});

describe("with projects, an execution", () => {
  const config = adminConfigSchema.parse({});
  let database: AdminDatabase;
  beforeAll(async () => {
    database = await adminDatabase();
    await database.db.query({
      text: "INSERT INTO projects (identifier, name, description, state, created_at, updated_at) VALUES ('lab-development', '', '', 0, now(), now())",
    });
  });
  afterAll(() => database.stop());

  const check = (project: string, name: string) => checkOwnFolder(database.db, { project, domain: "development", name }, config);

  test("is refused if its folder belongs to a registered project, and otherwise accepted", async () => {
    await expect(check("lab", "staging-x")).rejects.toThrow(
      "invalid execution name [staging-x]: its folder would be that of an execution of project [lab-development] and domain [staging]",
    );
    await check("lab", "x");
    await check("lab-development", "x");
    await check("other", "staging-x");
  });
});
