import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { SERVICES } from "../services.js";
import { builtProgram } from "../stack/built-program.js";

// Compares manifests with the programs. Addresses are compared in network.test.ts, requests to the
// Kubernetes API in source-requests.test.ts.

interface Schema {
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const programs = SERVICES.filter(({ manifest }) => manifest.opsPort !== undefined);

describe.each(programs)("the program of $manifest.id", ({ manifest, folder }) => {
  const text = execFileSync(process.execPath, [builtProgram(folder), "--print-schema"], { encoding: "utf8" });
  const schema = JSON.parse(text) as Schema;
  const at = (...path: readonly string[]) => path.reduce<Schema | undefined>((inner, key) => inner?.properties?.[key], schema);

  test("listens for health and metrics at the port of its manifest", () => {
    expect(at("ops", "port")?.default).toBe(manifest.opsPort);
  });

  test("has the settings of its requirements, and of no others", () => {
    const { database, bus, kubernetes, admin, catalog, blobStore } = manifest.requires;
    const settings = Object.entries({ database, nats: bus, kubernetes: kubernetes === "own", admin, catalog });
    const required = settings.filter(([, requirement]) => Boolean(requirement)).map(([name]) => name);
    expect(settings.map(([name]) => name).filter((name) => at(name) !== undefined)).toEqual(required);
    expect(at("storage", "s3") !== undefined).toBe(blobStore !== undefined);
    expect(at("storage", "s3", "publicEndpoint") !== undefined).toBe(blobStore?.presigns ?? false);
    expect(at("clusters") !== undefined).toBe(kubernetes === "data-planes");
    const url = at("database", "url")?.default;
    expect(typeof url === "string" ? url.split("/").at(-1) : undefined).toBe(database?.name);
  });

  test("serves the task types of its manifest, unless its settings do not name any", () => {
    expect(at("taskTypes")?.default ?? manifest.taskTypes).toEqual(manifest.taskTypes);
  });
});

test("each service that calls admin has a client id of its own", () => {
  const ids = SERVICES.flatMap(({ manifest }) => manifest.requires.admin?.clientId ?? []);
  expect(new Set(ids).size).toBe(ids.length);
});
