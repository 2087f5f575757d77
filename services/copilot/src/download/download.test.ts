import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { BlobUnavailableError } from "@flyte-ts/blobstore";
import {
  binaryLiteral,
  booleanLiteral,
  collectionLiteral,
  datetimeLiteral,
  durationLiteral,
  floatLiteral,
  integerLiteral,
  literalMap,
  mapLiteral,
  noneLiteral,
  stringLiteral,
  structLiteral,
  unionLiteral,
} from "@flyte-ts/domain/literal";
import { type Literal, LiteralMapSchema, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { LiteralTypeSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { beforeEach, describe, expect, it } from "vitest";
import { CopilotFixture } from "../copilot.fixture.js";

let ground: CopilotFixture;
let folder: string;

beforeEach(() => {
  ground = new CopilotFixture();
  folder = join(ground.root, "inputs");
});

async function download(inputs: Record<string, Literal>, ...more: string[]): Promise<number> {
  const from = `${ground.remote}/data/inputs.pb`;
  await ground.store.put(from, toBinary(LiteralMapSchema, literalMap(Object.entries(inputs))));
  return ground.run(["download", "--from-remote", from, "--to-output-prefix", ground.outputPrefix, "--to-local-dir", folder, ...more]);
}

const text = (...path: string[]) => readFileSync(join(folder, ...path), "utf8");
const written = () => fromBinary(LiteralMapSchema, readFileSync(join(folder, "inputs.pb"))).literals;
const blob = (uri: string, dimensionality: 0 | 1): Literal =>
  scalar({ case: "blob", value: { uri, metadata: { type: { dimensionality, format: "csv" } } } });

type ScalarInit = NonNullable<Extract<MessageInitShape<typeof LiteralSchema>["value"], { case: "scalar" }>["value"]["value"]>;
function scalar(value: ScalarInit): Literal {
  return create(LiteralSchema, { value: { case: "scalar", value: { value } } });
}

describe("values", () => {
  it.each<[string, Literal, string, unknown]>([
    ["an integer", integerLiteral(-7), "-7", -7],
    ["a number", floatLiteral(2), "2", 2],
    ["a large number", floatLiteral(1e21), "1000000000000000000000", 1e21],
    ["a small number", floatLiteral(-1.25e-7), "-0.000000125", -1.25e-7],
    ["no number", floatLiteral(Number.NEGATIVE_INFINITY), "-Inf", "-Infinity"],
    ["a boolean", booleanLiteral(true), "true", true],
    ["a text", stringLiteral("ä\n"), "ä\n", "ä\n"],
    ["a time", datetimeLiteral(new Date("2026-01-02T03:04:05.060Z")), "2026-01-02T03:04:05.06Z", "2026-01-02T03:04:05.06Z"],
    ["a duration", durationLiteral(3_723_500), "1h2m3.5s", "1h2m3.5s"],
    ["nothing", noneLiteral(), "null", null],
    ["a struct", structLiteral({ a: [1, null] }), '{"a":[1,null]}', { a: [1, null] }],
    ["bytes", binaryLiteral(Buffer.from("xyz"), "msgpack"), "xyz", "eHl6"],
    ["a union", unionLiteral(integerLiteral(3), create(LiteralTypeSchema)), "3", 3],
  ])("%s", async (_, literal, content, value) => {
    expect(await download({ x: literal })).toBe(0);
    expect(text("x")).toBe(content);
    expect(JSON.parse(text("inputs.json"))).toEqual({ x: value });
    expect(toBinary(LiteralSchema, written()["x"] as Literal)).toEqual(toBinary(LiteralSchema, literal));
  });

  it("integers are exact in JSON and YAML", async () => {
    await download({ n: integerLiteral(2n ** 63n - 1n) });
    expect(text("inputs.json")).toBe('{"n":9223372036854775807}');
    await download({ n: integerLiteral(2n ** 63n - 1n), m: mapLiteral([["k", stringLiteral("v")]]) }, "--format", "YAML");
    expect(text("inputs.yaml")).toBe("n: 9223372036854775807\nm:\n  k: v\n");
  });

  it("lists and maps are folders", async () => {
    await download({
      list: collectionLiteral([integerLiteral(1), collectionLiteral([stringLiteral("a")])]),
      map: mapLiteral([
        ["k", integerLiteral(2)],
        ["../up", integerLiteral(3)],
      ]),
    });
    expect([text("list", "0"), text("list", "1", "0"), text("map", "k")]).toEqual(["1", "a", "2"]);
    expect(readdirSync(join(folder, "map"))).toEqual(["%2E%2E%2Fup", "k"]);
    expect(JSON.parse(text("inputs.json"))).toEqual({ list: [1, ["a"]], map: { k: 2, "../up": 3 } });
  });

  it("with format PROTO, only inputs.pb is written", async () => {
    await download({ n: integerLiteral(1) }, "--format", "PROTO");
    expect(readdirSync(folder).toSorted()).toEqual(["inputs.pb", "n"]);
  });

  it("an offloaded literal is fetched", async () => {
    const uri = `${ground.remote}/large`;
    await ground.store.put(uri, toBinary(LiteralSchema, stringLiteral("much")));
    await download({ x: create(LiteralSchema, { value: { case: "offloadedMetadata", value: { uri } } }) });
    expect([text("x"), written()["x"]]).toMatchObject(["much", stringLiteral("much")]);
  });
});

describe("files", () => {
  beforeEach(async () => {
    for (const name of ["one.csv", "dir/a", "dir/sub/b", "dir2/c"]) await ground.store.put(`${ground.remote}/${name}`, Buffer.from(name));
  });

  it("files are downloaded, and literals refer to them", async () => {
    const inputs = {
      file: blob(`${ground.remote}/one.csv`, 0),
      files: collectionLiteral([blob(`${ground.remote}/one.csv`, 0)]),
      folder: blob(`${ground.remote}/dir`, 1),
      table: scalar({ case: "structuredDataset", value: { uri: `${ground.remote}/dir/` } }),
    };
    expect(await download(inputs)).toBe(0);
    expect([text("file"), text("files", "0"), text("folder", "a"), text("folder", "sub", "b"), text("table", "a")]).toEqual([
      "one.csv",
      "one.csv",
      "dir/a",
      "dir/sub/b",
      "dir/a",
    ]);
    expect(readdirSync(join(folder, "folder"))).toEqual(["a", "sub"]);
    expect(JSON.parse(text("inputs.json"))).toEqual({
      file: `${folder}/file`,
      files: [`${folder}/files/0`],
      folder: `${folder}/folder`,
      table: `${folder}/table`,
    });
    expect(written()["file"]).toMatchObject({
      value: { value: { value: { value: { uri: `${folder}/file`, metadata: { type: { format: "csv" } } } } } },
    });
  });

  it("files are not downloaded when the task declines it", async () => {
    const uri = `${ground.remote}/one.csv`;
    await download({ file: blob(uri, 0) }, "--download-mode", "DO_NOT_DOWNLOAD");
    expect(readdirSync(folder).toSorted()).toEqual(["inputs.json", "inputs.pb"]);
    expect(JSON.parse(text("inputs.json"))).toEqual({ file: uri });
  });

  it("missing files fail the attempt before its task starts", async () => {
    expect(await download({ file: blob(`${ground.remote}/none`, 0) })).toBe(1);
    expect(await ground.error()).toMatchObject({
      code: "InputDownloadFailed",
      message: `input file: there is no blob at ${ground.remote}/none`,
      kind: 1,
      origin: 1,
    });
  });

  it("downloaded files may be changed by any user", async () => {
    const umask = process.umask(0);
    await download({ file: blob(`${ground.remote}/one.csv`, 0), list: collectionLiteral([]) });
    process.umask(umask);
    expect(statSync(join(folder, "list")).mode & 0o777).toBe(0o777);
    expect(statSync(join(folder, "inputs.json")).mode & 0o777).toBe(0o777);
  });
});

it("an unavailable store is retried, and its timeout is a system error", async () => {
  let failures = 3;
  const get = (uri: string) => {
    if (failures-- > 0) throw new BlobUnavailableError(uri, "ECONNREFUSED");
    return ground.store.get(uri);
  };
  const parts = { store: { ...ground.store, get: async (uri: string) => get(uri) } };
  await ground.store.put(`${ground.remote}/inputs.pb`, toBinary(LiteralMapSchema, literalMap([["n", integerLiteral(1)]])));
  const words = ["--from-remote", `${ground.remote}/inputs.pb`, "--to-output-prefix", ground.outputPrefix, "--to-local-dir", folder];
  expect(await ground.run(["download", ...words], parts)).toBe(0);
  failures = Number.POSITIVE_INFINITY;
  expect(await ground.run(["download", ...words, "--timeout", "30s"], parts)).toBe(1);
  expect(await ground.error()).toMatchObject({ code: "InputDownloadFailed", origin: 2 });
});

it("the task does not start before the sidecar is ready", async () => {
  const file = join(ground.root, "ready");
  const words = ["download", "--to-output-prefix", ground.outputPrefix, "--await-file", file];
  const waiting = ground.run([...words, "--timeout", "1000h"]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  writeFileSync(file, "");
  expect(await waiting).toBe(0);
  expect(await ground.run([...words.slice(0, -1), `${file}.never`, "--timeout", "1s"])).toBe(1);
  expect((await ground.error())?.message).toMatch(/has not started/);
});

it.each([
  [["upload"], "the command must be download or sidecar"],
  [["download", "--to-output-prefix", "x", "--from-remote", "y"], "--to-local-dir: is required"],
  [["download", "--to-output-prefix", "x", "--format", "XML"], "--format: must be one of JSON, YAML, PROTO"],
  [["download", "--to-output-prefix", "x", "--timeout", "soon"], "--timeout"],
  [["download", "--colour", "red"], "--colour"],
])("the error says what is wrong with %j", (words, message) => {
  mkdirSync(folder);
  expect(() => ground.run(words)).toThrow(message);
});
