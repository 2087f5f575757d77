import { mkdtempSync, readdirSync, readFileSync, rmSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { clone, create, createFileRegistry, type DescFile, type FileRegistry } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { compareFacts } from "./facts.js";
import { ourFacts } from "./generated-facts.js";
import { publishedFacts } from "./published-facts.js";
import { root } from "../repository.js";

// @flyteorg/flyteidl 1.16.5 is the newest 1.16 release on npm and contains the .proto files.
const folder = join(dirname(createRequire(import.meta.url).resolve("@flyteorg/flyteidl/package.json")), "protos");
const publishedPaths = protoFiles(folder);
const published = publishedFacts({ folder, paths: publishedPaths });
const generated = join(root, "packages", "idl", "src", "gen", "flyteidl");
const files = await loadFiles();

/** Declarations of Flyte 1.16.8 that the npm package of 1.16.5 lacks. */
const knownAdditions = [/^extra flyteidl\.plugins\.AutoscalerOptions\b/, /^extra flyteidl\.plugins\.RayCluster\.autoscaler_options:/];

function protoFiles(root: string): string[] {
  return readdirSync(join(root, "flyteidl"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".proto"))
    .map((path) => `flyteidl/${path}`)
    .sort();
}

async function loadFiles(): Promise<DescFile[]> {
  const paths = readdirSync(generated, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith("_pb.ts"));
  const modules = await Promise.all(paths.map(async (path) => (await import(join(generated, path))) as Record<string, unknown>));
  return modules.flatMap((exports) => Object.values(exports).filter(isFile));
}

function isFile(value: unknown): value is DescFile {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "file";
}

test("the descriptors contain exactly the files of the published package", () => {
  expect(files.map((file) => file.proto.name).sort()).toEqual(publishedPaths);
});

test("all names, numbers, types, oneofs, enum values, RPCs and HTTP paths equal the published ones", () => {
  const found = compareFacts({ ours: ourFacts(files), published });
  expect(found.filter((line) => !knownAdditions.some((known) => known.test(line)))).toEqual([]);
  expect(knownAdditions.filter((known) => !found.some((line) => known.test(line)))).toEqual([]);
});

test("the comparison covers every kind of declaration", () => {
  const kinds = Map.groupBy(published.values(), (fact) => fact.split(" ")[0]);
  const counts = Object.fromEntries([...kinds].map(([kind, facts]) => [kind, facts.length]));
  expect(counts).toEqual({ message: 436, enum: 52, field: 1302, value: 201, service: 11, rpc: 92, http: 73 });
});

test.each([
  ["a field number", (text: string) => text.replace("LiteralMap map = 3;", "LiteralMap map = 33;")],
  ["a field type", (text: string) => text.replace("int64 integer = 1;", "int32 integer = 1;")],
  ["a oneof", (text: string) => text.replace("oneof value {", "oneof val {")],
])("the comparison finds a change of %s", (_, change) => {
  const copy = mkdtempSync(join(tmpdir(), "flyteidl-"));
  try {
    for (const path of publishedPaths) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      const text = readFileSync(join(folder, path), "utf8");
      writeFileSync(join(copy, path), path.endsWith("core/literals.proto") ? change(text) : text);
    }
    const changed = publishedFacts({ folder: copy, paths: publishedPaths });
    expect(compareFacts({ ours: changed, published })).not.toEqual([]);
  } finally {
    rmSync(copy, { recursive: true });
  }
});

test("the comparison finds a changed field number in our descriptors", () => {
  const registry = mutate("flyteidl/core/literals.proto", (proto) => {
    const field = proto.messageType.find((message) => message.name === "Literal")?.field.find((each) => each.name === "map");
    if (field) field.number = 33;
  });
  const found = compareFacts({ ours: ourFacts([...registry.files].filter((file) => file.proto.name.startsWith("flyteidl/"))), published });
  expect(found).toContainEqual(expect.stringContaining("different flyteidl.core.Literal.map"));
});

function mutate(name: string, change: (proto: DescFile["proto"]) => void): FileRegistry {
  const closure = new Set(files);
  for (const file of closure) for (const dependency of file.dependencies) closure.add(dependency);
  const sorted: DescFile[] = [];
  const visit = (file: DescFile): void => {
    if (sorted.includes(file)) return;
    file.dependencies.forEach(visit);
    sorted.push(file);
  };
  for (const file of closure) visit(file);
  const protos = sorted.map((file) => {
    const proto = clone(FileDescriptorProtoSchema, file.proto);
    if (proto.name === name) change(proto);
    return proto;
  });
  return createFileRegistry(create(FileDescriptorSetSchema, { file: protos }));
}
