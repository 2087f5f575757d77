import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
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
  noneLiteral,
  stringLiteral,
  structLiteral,
} from "@flyte-ts/domain/literal";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { type Literal, LiteralMapSchema, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type LiteralTypeSchema, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { beforeEach, describe, expect, it } from "vitest";
import { CopilotFixture } from "../copilot.fixture.js";

type Type = MessageInitShape<typeof LiteralTypeSchema>;
const simple = (value: SimpleType): Type => ({ type: { case: "simple", value } });
const file: Type = { type: { case: "blob", value: { dimensionality: 0, format: "csv" } } };
const directory: Type = { type: { case: "blob", value: { dimensionality: 1 } } };

let ground: CopilotFixture;
let folder: string;

beforeEach(() => {
  ground = new CopilotFixture();
  folder = join(ground.root, "outputs");
  mkdirSync(folder);
  folder = realpathSync(folder);
});

function leave(name: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), content);
}

function link(name: string, target: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  symlinkSync(target, join(folder, name));
}

function words(outputs: Record<string, Type>): string[] {
  const variables = Object.fromEntries(Object.entries(outputs).map(([name, type]) => [name, { type }]));
  const iface = toBinary(TypedInterfaceSchema, create(TypedInterfaceSchema, { outputs: { variables } }));
  const places = ["--to-output-prefix", ground.outputPrefix, "--to-raw-output", `${ground.remote}/raw`, "--from-local-dir", folder];
  return ["sidecar", ...places, "--interface", Buffer.from(iface).toString("base64")];
}

async function outputs(): Promise<Record<string, Literal> | undefined> {
  const bytes = await ground.store.get(`${ground.outputPrefix}/outputs.pb`);
  return bytes && fromBinary(LiteralMapSchema, bytes).literals;
}

describe("values", () => {
  it.each<[Type, string, Literal]>([
    [simple(SimpleType.INTEGER), "-42\n", integerLiteral(-42)],
    [simple(SimpleType.INTEGER), "9223372036854775807", integerLiteral(2n ** 63n - 1n)],
    [simple(SimpleType.FLOAT), " .5\n", floatLiteral(0.5)],
    [simple(SimpleType.FLOAT), "1e-3", floatLiteral(0.001)],
    [simple(SimpleType.FLOAT), "-inf", floatLiteral(Number.NEGATIVE_INFINITY)],
    [simple(SimpleType.BOOLEAN), "True", booleanLiteral(true)],
    [simple(SimpleType.BOOLEAN), "0\n", booleanLiteral(false)],
    [simple(SimpleType.STRING), "\ta b\n\n", stringLiteral("a b")],
    [simple(SimpleType.DATETIME), "2026-01-02T05:04:05+02:00", datetimeLiteral(new Date("2026-01-02T03:04:05Z"))],
    [simple(SimpleType.DURATION), "-1h0m0.5s", durationLiteral(-3_600_500)],
    [simple(SimpleType.STRUCT), '{"a": [1]}', structLiteral({ a: [1] })],
    [simple(SimpleType.BINARY), " \x01", binaryLiteral(Buffer.from(" \x01"), "msgpack")],
    [simple(SimpleType.NONE), "null", noneLiteral()],
    [{ type: { case: "enumType", value: { values: ["red"] } } }, "red\n", stringLiteral("red")],
    [
      { type: { case: "collectionType", value: simple(SimpleType.INTEGER) } },
      "[1, 2]",
      collectionLiteral([integerLiteral(1), integerLiteral(2)]),
    ],
  ])("%j from %j", async (type, content, literal) => {
    leave("x", content);
    expect(await ground.run(words({ x: type }))).toBe(0);
    const found = (await outputs())?.["x"];
    expect(found && toBinary(LiteralSchema, found)).toEqual(toBinary(LiteralSchema, literal));
  });

  it.each<[string, Type, string, string]>([
    ["no integer", simple(SimpleType.INTEGER), "1.5", 'output x: "1.5" is no integer of 64 bits'],
    ["an integer out of range", simple(SimpleType.INTEGER), "9223372036854775808", "no integer of 64 bits"],
    ["no number", simple(SimpleType.FLOAT), "0x10", "is no number"],
    ["no boolean", simple(SimpleType.BOOLEAN), "yes", "is no boolean"],
    ["no time", simple(SimpleType.DATETIME), "yesterday", "RFC 3339"],
    ["no duration", simple(SimpleType.DURATION), "5 minutes", "is no duration"],
    ["no JSON", simple(SimpleType.STRUCT), "{", "the content is not JSON"],
    ["a value outside the enum", { type: { case: "enumType", value: { values: ["red"] } } }, "blue", "the enum (red)"],
    ["too much", simple(SimpleType.STRING), "x".repeat(1024 * 1024 + 1), "a value may have 1048576 at most"],
  ])("%s fails the attempt", async (_, type, content, message) => {
    leave("x", content);
    expect(await ground.run(words({ x: type }))).toBe(0);
    expect(await outputs()).toBeUndefined();
    expect(await ground.error()).toMatchObject({
      code: "OutputUploadFailed",
      kind: 1,
      origin: 1,
      message: expect.stringContaining(message),
    });
  });
});

describe("files", () => {
  it("output files are uploaded; an extension is not part of the name", async () => {
    leave("table.csv", "a,b");
    leave("tree/one", "1");
    leave("tree/sub/two", "2");
    expect(await ground.run(words({ table: file, tree: directory }))).toBe(0);
    const text = async (name: string) => Buffer.from((await ground.store.get(`${ground.remote}/raw/${name}`)) ?? []).toString();
    expect(await Promise.all(["table", "tree/one", "tree/sub/two"].map(text))).toEqual(["a,b", "1", "2"]);
    const uri = (name: string, type: object) => ({
      value: { value: { value: { value: { uri: `${ground.remote}/raw/${name}`, metadata: { type } } } } },
    });
    expect(await outputs()).toMatchObject({
      table: uri("table", { dimensionality: 0, format: "csv" }),
      tree: uri("tree", { dimensionality: 1 }),
    });
  });

  it("links to files and folders are uploaded as what they lead to", async () => {
    leave("tree/ckpt-9/weights", "9");
    leave("blobs/abc", "blob");
    symlinkSync("ckpt-9", join(folder, "tree/latest"));
    symlinkSync("../blobs/abc", join(folder, "tree/model.bin"));
    symlinkSync(join(folder, "blobs/abc"), join(folder, "table.csv"));
    expect(await ground.run(words({ tree: directory, table: file }))).toBe(0);
    expect(await outputs()).toHaveProperty("tree");
    const text = async (name: string) => Buffer.from((await ground.store.get(`${ground.remote}/raw/${name}`)) ?? []).toString();
    expect(await Promise.all(["tree/ckpt-9/weights", "tree/latest/weights", "tree/model.bin", "table"].map(text))).toEqual([
      "9",
      "9",
      "blob",
      "blob",
    ]);
  });

  it("many links to folders that hold links to folders fail the attempt", async () => {
    for (let level = 0; level < 12; level++) {
      mkdirSync(join(folder, `tree/${level}`), { recursive: true });
      for (const name of ["a", "b"]) symlinkSync(`../${level + 1}`, join(folder, `tree/${level}/${name}`));
    }
    leave("tree/12/file", "1");
    await ground.run(words({ tree: directory }));
    expect((await ground.error())?.message).toContain("has more than 1000 links to folders");
  });

  it("files that the task uploaded itself are reported by URI", async () => {
    leave("table", "s3://elsewhere/x\n");
    expect(await ground.run([...words({ table: file }), "--upload-mode", "DO_NOT_UPLOAD"])).toBe(0);
    expect((await outputs())?.["table"]?.value).toMatchObject({ value: { value: { value: { uri: "s3://elsewhere/x" } } } });
  });

  it.each<[string, () => void, Record<string, Type>, string]>([
    ["missing", () => undefined, { x: file }, "output x: the task wrote no file"],
    ["a folder in place of a file", () => leave("x/y", ""), { x: file }, "is a folder, and the output's type is a file"],
    ["a file in place of a folder", () => leave("x", ""), { x: directory }, "is a file, and the output's type is a folder"],
    ["a folder in place of a value", () => leave("x/y", ""), { x: simple(SimpleType.STRING) }, "is a folder"],
    ["a broken link in a folder", () => link("x/latest", "ckpt-9"), { x: directory }, "x/latest is a link to ckpt-9, which does not exist"],
    ["a broken link", () => link("x", "gone"), { x: file }, "x is a link to gone, which does not exist"],
    ["a link to a folder that contains it", () => link("x/y/up", ".."), { x: directory }, "x/y/up is a link to"],
    ["a link to itself", () => link("x/loop", "loop"), { x: directory }, "x/loop is a link to loop, which cannot be read: "],
    [
      "a link in a folder to elsewhere",
      () => link("x/host", "/etc/hostname"),
      { x: directory },
      "x/host is a link to /etc/hostname, which is outside",
    ],
    [
      "a link of a file to elsewhere",
      () => link("x.csv", "/etc/hostname"),
      { x: file },
      "x.csv is a link to /etc/hostname, which is outside of",
    ],
    ["a link of a value to elsewhere", () => link("x", "/etc/hostname"), { x: simple(SimpleType.STRING) }, "which is outside of"],
    [
      "a link of an error to elsewhere",
      () => link("_ERROR", "/etc/hostname"),
      {},
      "_ERROR is a link to /etc/hostname, which is outside of",
    ],
    ["several", () => ["x.a", "x.b"].forEach((name) => leave(name, "")), { x: file }, "several files for"],
  ])("%s: the attempt fails", async (_, prepare, types, message) => {
    prepare();
    await ground.run(words(types));
    expect((await ground.error())?.message).toContain(message);
  });
});

it("a task reports a failure by _ERROR", async () => {
  leave("x", "1");
  leave("_ERROR", "no more paper\n");
  expect(await ground.run(words({ x: simple(SimpleType.INTEGER) }))).toBe(0);
  expect(await outputs()).toBeUndefined();
  expect(await ground.error()).toMatchObject({ code: "UserError", message: "no more paper", kind: 1, origin: 1 });
});

it("the sidecar waits for the task's end and signals its readiness", async () => {
  const ready = join(ground.root, "ready");
  const { promise: terminated, resolve } = Promise.withResolvers<void>();
  const running = ground.run([...words({ x: simple(SimpleType.INTEGER) }), "--ready-file", ready], { terminated });
  await expect.poll(() => existsSync(ready)).toBe(true);
  leave("x", "1");
  resolve();
  expect(await running).toBe(0);
  expect(await outputs()).toHaveProperty("x");
});

it("when neither outputs nor the error can be written, the exit status reports it", async () => {
  leave("x", "1");
  const put = (uri: string) => Promise.reject(new BlobUnavailableError(uri, "ECONNREFUSED"));
  expect(await ground.run([...words({ x: simple(SimpleType.INTEGER) }), "--timeout", "1m"], { store: { ...ground.store, put } })).toBe(1);
  expect(ground.logged.at(-1)).toContain("the error could not be written");
});
