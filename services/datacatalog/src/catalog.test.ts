import { readdirSync } from "node:fs";
import { create, equals, type MessageInitShape } from "@bufbuild/protobuf";
import { type Literal, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import {
  type DatasetIDSchema,
  PaginationOptions_SortOrder as SortOrder,
  type SinglePropertyFilterSchema,
} from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ServedCatalog, serveCatalog } from "./served-catalog.fixture.js";

let served: ServedCatalog;
let dataset: MessageInitShape<typeof DatasetIDSchema>;
let numbers = 0;
beforeAll(async () => {
  served = await serveCatalog();
});
afterAll(() => served.stop());

const text = (value: string): Literal =>
  create(LiteralSchema, {
    value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "stringValue", value } } } } },
  });
const data = (name: string, value: string) => ({ name, value: text(value) });

async function newDataset(partitionKeys: string[] = []) {
  dataset = { project: "p", domain: "d", name: `task-${++numbers}`, version: "1" };
  await served.catalog.createDataset({ dataset: { id: dataset, metadata: { keyMap: { "task-version": "v" } }, partitionKeys } });
  return dataset;
}

async function failure(call: Promise<unknown>): Promise<{ code: Code; message: string }> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof RpcError)) throw new Error(`the call did not fail as calls do: ${String(error)}`);
  return { code: error.code, message: error.message };
}

describe("datasets", () => {
  test("are found by their ids, with the stored fields", async () => {
    const id = await newDataset(["a", "b"]);
    const { dataset: found } = await served.catalog.getDataset({ dataset: id });
    expect(found?.metadata?.keyMap).toEqual({ "task-version": "v" });
    expect(found?.partitionKeys).toEqual(["a", "b"]);
    expect(found?.id).toMatchObject(id);
    expect(found?.id?.UUID).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("are created once", async () => {
    const id = { project: "p", domain: "d", name: "once", version: "1" };
    const made = await Promise.allSettled(
      [...Array(20).keys()].map((i) => (i % 2 ? served.catalog : served.replica).createDataset({ dataset: { id } })),
    );
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const codes = made.flatMap((one) => (one.status === "rejected" ? [(one.reason as RpcError).code] : []));
    expect(new Set(codes)).toEqual(new Set([Code.ALREADY_EXISTS]));
  });

  test.each([
    ["dataset", undefined],
    ["project", { project: "" }],
    ["domain", { domain: "" }],
    ["name", { name: "" }],
    ["version", { version: "" }],
  ])("require their %s", async (field, change) => {
    const id = { project: "p", domain: "d", name: "n", version: "1", ...change };
    const request = { dataset: change === undefined ? {} : { id } };
    const wanted = { code: Code.INVALID_ARGUMENT, message: `missing ${field}` };
    expect(await failure(served.catalog.createDataset(request))).toEqual(wanted);
    expect(await failure(served.catalog.getDataset(change === undefined ? {} : { dataset: id }))).toEqual(wanted);
  });

  test("require distinct partition keys", async () => {
    const id = { project: "p", domain: "d", name: "keys", version: "1" };
    const { code, message } = await failure(served.catalog.createDataset({ dataset: { id, partitionKeys: ["a", "a"] } }));
    expect(code).toBe(Code.INVALID_ARGUMENT);
    expect(message).toContain("partitionKey");
  });

  test("are NOT_FOUND if they do not exist", async () => {
    expect((await failure(served.catalog.getDataset({ dataset: { project: "p", domain: "d", name: "none", version: "1" } }))).code).toBe(
      Code.NOT_FOUND,
    );
  });

  test("are listed by filter, page by page", async () => {
    for (const version of ["1", "2", "3"]) {
      await served.catalog.createDataset({ dataset: { id: { project: "listed", domain: "d", name: "n", version } } });
    }
    const project = { propertyFilter: { case: "datasetFilter", value: { property: { case: "project", value: "listed" } } } } as const;
    const list = (token: string, sortOrder: SortOrder) =>
      served.catalog.listDatasets({ filter: { filters: [project] }, pagination: { limit: 2, token, sortOrder } });
    const first = await list("", SortOrder.DESCENDING);
    expect(first.datasets.map(({ id }) => id?.version)).toEqual(["3", "2"]);
    const second = await list(first.nextToken, SortOrder.DESCENDING);
    expect(second.datasets.map(({ id }) => id?.version)).toEqual(["1"]);
    expect(second.nextToken).toBe("");
    expect((await list("", SortOrder.ASCENDING)).datasets.map(({ id }) => id?.version)).toEqual(["1", "2"]);
    const version = { propertyFilter: { case: "datasetFilter", value: { property: { case: "version", value: "2" } } } } as const;
    expect((await served.catalog.listDatasets({ filter: { filters: [project, version] } })).datasets).toHaveLength(1);
  });

  test.each<[string, MessageInitShape<typeof SinglePropertyFilterSchema>]>([
    ["Tag", { propertyFilter: { case: "tagFilter", value: { property: { case: "tagName", value: "t" } } } }],
    ["Artifact", { propertyFilter: { case: "artifactFilter", value: { property: { case: "artifactId", value: "t" } } } }],
    [
      "Partition",
      { propertyFilter: { case: "partitionFilter", value: { property: { case: "keyVal", value: { key: "a", value: "b" } } } } },
    ],
  ])("cannot be filtered by %s", async (name, filter) => {
    expect(await failure(served.catalog.listDatasets({ filter: { filters: [filter] } }))).toEqual({
      code: Code.INVALID_ARGUMENT,
      message: `Dataset cannot be filtered by ${name} properties`,
    });
  });

  test.each(["x", "-1", "1.5"])("are not listed with a token %s", async (token) => {
    expect((await failure(served.catalog.listDatasets({ pagination: { token } }))).code).toBe(Code.INVALID_ARGUMENT);
  });
});

describe("artifacts", () => {
  test("are returned by id and by tag as they were stored, small and large", async () => {
    const id = await newDataset(["k"]);
    const large = "x".repeat(5000);
    const artifact = {
      id: "art",
      dataset: id,
      data: [data("z", "small"), data("a", large)],
      metadata: { keyMap: { "execution-name": "e" } },
      partitions: [{ key: "k", value: "1" }],
    };
    await served.catalog.createArtifact({ artifact });
    await served.catalog.addTag({ tag: { name: "t", artifactId: "art", dataset: id } });
    const byTag = await served.replica.getArtifact({ dataset: id, queryHandle: { case: "tagName", value: "t" } });
    const byId = await served.catalog.getArtifact({ dataset: id, queryHandle: { case: "artifactId", value: "art" } });
    const anywhere = await served.catalog.getArtifact({ queryHandle: { case: "artifactId", value: "art" } });
    for (const { artifact: found } of [byTag, byId, anywhere]) {
      expect(found?.data.map(({ name }) => name)).toEqual(["z", "a"]);
      expect(equals(LiteralSchema, found?.data[1]?.value as Literal, text(large))).toBe(true);
      expect(equals(LiteralSchema, found?.data[0]?.value as Literal, text("small"))).toBe(true);
      expect(found?.metadata?.keyMap).toEqual({ "execution-name": "e" });
      expect(found?.partitions).toMatchObject([{ key: "k", value: "1" }]);
      expect(found?.tags).toMatchObject([{ name: "t", artifactId: "art", dataset: id }]);
      expect(Number(found?.createdAt?.seconds)).toBeGreaterThan(Date.now() / 1000 - 3600);
    }
  });

  test("keep the first owner of a tag", async () => {
    const id = await newDataset();
    const ids = [...Array(20).keys()].map((i) => `a${i}`);
    await Promise.all(
      ids.map((artifact) => served.catalog.createArtifact({ artifact: { id: artifact, dataset: id, data: [data("o", artifact)] } })),
    );
    const tagged = await Promise.allSettled(
      ids.map((artifactId, i) => (i % 2 ? served.catalog : served.replica).addTag({ tag: { name: "t", artifactId, dataset: id } })),
    );
    const winners = ids.filter((_, i) => tagged[i]?.status === "fulfilled");
    expect(winners).toHaveLength(1);
    const { artifact } = await served.catalog.getArtifact({ dataset: id, queryHandle: { case: "tagName", value: "t" } });
    expect(artifact?.id).toBe(winners[0]);
  });

  test.each([
    ["an unknown dataset", { dataset: { project: "p", domain: "d", name: "none", version: "1" } }, Code.NOT_FOUND],
    ["no id", { id: "" }, Code.INVALID_ARGUMENT],
    ["no data", { data: [] }, Code.INVALID_ARGUMENT],
    ["duplicate data names", { data: [data("o", "1"), data("o", "2")] }, Code.INVALID_ARGUMENT],
    ["an additional partition", { partitions: [{ key: "k", value: "v" }] }, Code.INVALID_ARGUMENT],
    ["a NUL character", { id: "a\0b" }, Code.INVALID_ARGUMENT],
  ])("are refused with %s", async (_, change, code) => {
    const id = await newDataset();
    const artifact = { id: "a", dataset: id, data: [data("o", "1")], ...change };
    expect((await failure(served.catalog.createArtifact({ artifact }))).code).toBe(code);
  });

  test.each([
    ["missing", []],
    ["of an unknown key", [{ key: "other", value: "v" }]],
    ["empty", [{ key: "k", value: "" }]],
  ])("are refused with a partition that is %s", async (_, partitions) => {
    const id = await newDataset(["k"]);
    expect(
      (await failure(served.catalog.createArtifact({ artifact: { id: "a", dataset: id, data: [data("o", "1")], partitions } }))).code,
    ).toBe(Code.INVALID_ARGUMENT);
  });

  test("are refused with an existing id", async () => {
    const id = await newDataset();
    const artifact = { id: "a", dataset: id, data: [data("o", "y".repeat(500))] };
    const made = await Promise.allSettled([0, 1, 2, 3].map((i) => (i % 2 ? served.catalog : served.replica).createArtifact({ artifact })));
    const codes = made.map((one) => (one.status === "rejected" ? (one.reason as RpcError).code : 0));
    expect(codes.sort((a, b) => a - b)).toEqual([0, Code.ALREADY_EXISTS, Code.ALREADY_EXISTS, Code.ALREADY_EXISTS]);
    const { artifact: found } = await served.catalog.getArtifact({ dataset: id, queryHandle: { case: "artifactId", value: "a" } });
    expect(equals(LiteralSchema, found?.data[0]?.value as Literal, text("y".repeat(500)))).toBe(true);
  });

  test("are NOT_FOUND if they do not exist", async () => {
    const id = await newDataset();
    expect((await failure(served.catalog.getArtifact({ dataset: id, queryHandle: { case: "tagName", value: "none" } }))).code).toBe(
      Code.NOT_FOUND,
    );
    expect((await failure(served.catalog.getArtifact({ dataset: id, queryHandle: { case: "artifactId", value: "none" } }))).code).toBe(
      Code.NOT_FOUND,
    );
    expect((await failure(served.catalog.getArtifact({ dataset: id }))).code).toBe(Code.INVALID_ARGUMENT);
    expect((await failure(served.catalog.addTag({ tag: { name: "t", artifactId: "none", dataset: id } }))).code).toBe(Code.NOT_FOUND);
    expect(
      (await failure(served.catalog.updateArtifact({ dataset: id, queryHandle: { case: "tagName", value: "t" }, data: [data("o", "1")] })))
        .code,
    ).toBe(Code.NOT_FOUND);
  });

  test("are listed by tag, partition and id", async () => {
    const id = await newDataset(["k"]);
    for (const name of ["a", "b", "c"]) {
      await served.catalog.createArtifact({
        artifact: { id: name, dataset: id, data: [data("o", name)], partitions: [{ key: "k", value: name === "a" ? "1" : "2" }] },
      });
    }
    await served.catalog.addTag({ tag: { name: "t", artifactId: "b", dataset: id } });
    const list = async (filter?: MessageInitShape<typeof SinglePropertyFilterSchema>) => {
      const { artifacts } = await served.catalog.listArtifacts({ dataset: id, ...(filter && { filter: { filters: [filter] } }) });
      return artifacts.map((artifact) => artifact.id);
    };
    expect(await list()).toEqual(["c", "b", "a"]);
    expect(await list({ propertyFilter: { case: "tagFilter", value: { property: { case: "tagName", value: "t" } } } })).toEqual(["b"]);
    const keyVal = { key: "k", value: "2" };
    expect(await list({ propertyFilter: { case: "partitionFilter", value: { property: { case: "keyVal", value: keyVal } } } })).toEqual([
      "c",
      "b",
    ]);
    expect(await list({ propertyFilter: { case: "artifactFilter", value: { property: { case: "artifactId", value: "a" } } } })).toEqual([
      "a",
    ]);
    const byDataset = { propertyFilter: { case: "datasetFilter", value: { property: { case: "name", value: "n" } } } } as const;
    expect(await failure(list(byDataset))).toEqual({
      code: Code.INVALID_ARGUMENT,
      message: "Artifact cannot be filtered by Dataset properties",
    });
    const { artifacts } = await served.catalog.listArtifacts({ dataset: id, pagination: { limit: 1, token: "2" } });
    expect(artifacts.map((artifact) => artifact.id)).toEqual(["a"]);
  });

  test("are replaced completely, and their old blobs are deleted", async () => {
    const id = await newDataset();
    await served.catalog.createArtifact({ artifact: { id: "a", dataset: id, data: [data("o", "0".repeat(500)), data("gone", "1")] } });
    await served.catalog.addTag({ tag: { name: "t", artifactId: "a", dataset: id } });
    const handle = { case: "tagName", value: "t" } as const;
    const reads: string[] = [];
    let changing = true;
    const reader = (async () => {
      while (changing) {
        const { artifact } = await served.replica.getArtifact({ dataset: id, queryHandle: handle });
        const [first, second] = (artifact?.data ?? []).map(({ value }) => stringOf(value as Literal));
        if (first !== undefined && artifact?.data.length === 2 && artifact.data[1]?.name === "p") {
          reads.push(second === first ? "of one version" : `${second} with ${first}`);
        }
      }
    })();
    await Promise.all(
      [...Array(20).keys()].map(async (i) => {
        const value = String.fromCharCode(65 + i).repeat(500);
        const changed = await (i % 2 ? served.catalog : served.replica).updateArtifact({
          dataset: id,
          queryHandle: handle,
          data: [data("o", value), data("p", value)],
          metadata: { keyMap: { change: `${i}` } },
        });
        expect(changed.artifactId).toBe("a");
      }),
    );
    changing = false;
    await reader;
    expect(new Set(reads)).toEqual(new Set(["of one version"]));
    const { artifact } = await served.catalog.getArtifact({ dataset: id, queryHandle: handle });
    expect(artifact?.data.map(({ name }) => name)).toEqual(["o", "p"]);
    expect(artifact?.metadata?.keyMap).toHaveProperty("change");
    const blobs = readdirSync(`${served.blobs}/metadata/p/d/${id.name}/1/a`, { recursive: true }).filter((file) =>
      String(file).endsWith("data.pb"),
    );
    expect(blobs).toHaveLength(2);
  });
});

function stringOf(literal: Literal): string {
  const scalar = literal.value.case === "scalar" ? literal.value.value.value : undefined;
  const primitive = scalar?.case === "primitive" ? scalar.value.value : undefined;
  return primitive?.case === "stringValue" ? primitive.value : "";
}
