import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { literalMap } from "@flyte-ts/domain/literal";
import { type ContainerError, ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { type Literal, type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { root } from "../repository.js";
import { typeScriptProject } from "./project.js";

/** Runs tasks of a bundle as a container does, with a folder in place of the blob store. */
export interface Container {
  readonly bundle: { readonly path: string; readonly digest: string };
  run(task: ContainerTask): ContainerRun;
  remove(): void;
}

export interface ContainerTask {
  readonly module: string;
  readonly name: string;
  readonly inputs?: Iterable<readonly [string, Literal]>;
  readonly environment?: Readonly<Record<string, string>>;
  /** Further flags before the task, and words after it. */
  readonly flags?: readonly string[];
  readonly words?: readonly string[];
  readonly digest?: string;
}

export interface ContainerRun {
  readonly child: ChildProcess;
  /** Standard output and standard error so far. */
  log(): string;
  /** Resolves when the process has ended. */
  readonly ended: Promise<ContainerEnd>;
}

export interface ContainerEnd {
  readonly status: number | null;
  /** Names of the files in the folder of outputs. */
  readonly files: readonly string[];
  readonly error: ContainerError | undefined;
  readonly outputs: LiteralMap | undefined;
  read(file: string): Uint8Array;
}

const PROGRAM = join(root, "packages", "sdk-runtime", "bin", "flyte-ts-execute");

/** Packages the project of the tests. */
export function container(): Container {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-container-"));
  const project = typeScriptProject("localhost:1");
  const packaged = join(folder, "package");
  const result = project.run("package", "--out", packaged);
  project.remove();
  if (result.status !== 0) throw new Error(`the project cannot be packaged:\n${result.stdout}\n${result.stderr}`);
  const path = join(packaged, readdirSync(packaged).find((name) => name.endsWith(".tar.gz")) ?? "");
  const bundle = { path, digest: createHash("sha256").update(readFileSync(path)).digest("hex") };
  let runs = 0;
  return {
    bundle,
    run: (task) => runIn(join(folder, String(runs++)), { task, bundle, cache: join(folder, "cache") }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

interface Setup {
  readonly task: ContainerTask;
  readonly bundle: Container["bundle"];
  readonly cache: string;
}

function runIn(folder: string, { task, bundle, cache }: Setup): ContainerRun {
  const { module, name, inputs = [], environment = {}, flags = [], words = [], digest = bundle.digest } = task;
  mkdirSync(join(folder, "out"), { recursive: true });
  writeFileSync(join(folder, "inputs.pb"), toBinary(LiteralMapSchema, literalMap(inputs)));
  const addresses = ["--inputs", `file://${folder}/inputs.pb`, "--output-prefix", `file://${folder}/out`];
  const code = ["--bundle", `file://${bundle.path}`, "--bundle-digest", digest];
  const child = spawn(
    process.execPath,
    [
      PROGRAM,
      ...addresses,
      "--raw-output-data-prefix",
      `file://${folder}/raw`,
      ...code,
      ...flags,
      "--",
      "task-module",
      module,
      "task-name",
      name,
      ...words,
    ],
    { cwd: folder, env: { PATH: process.env.PATH, FLYTE_TS_BUNDLE_CACHE: cache, ...environment }, stdio: ["ignore", "pipe", "pipe"] },
  );
  let log = "";
  child.stdout.on("data", (piece) => (log += String(piece)));
  child.stderr.on("data", (piece) => (log += String(piece)));
  const ended = new Promise<ContainerEnd>((resolve) => child.on("close", (status) => resolve(endOf(join(folder, "out"), status))));
  return { child, log: () => log, ended };
}

function endOf(out: string, status: number | null): ContainerEnd {
  const files = readdirSync(out).toSorted();
  const read = (file: string) => readFileSync(join(out, file));
  const errorFile = files.find((file) => file.startsWith("error"));
  return {
    status,
    files,
    read,
    error: errorFile === undefined ? undefined : fromBinary(ErrorDocumentSchema, read(errorFile)).error,
    outputs: existsSync(join(out, "outputs.pb")) ? fromBinary(LiteralMapSchema, read("outputs.pb")) : undefined,
  };
}

/** Unpacks a bundle with the system's tar. */
export function unpackBundle({ path }: Container["bundle"], folder: string): void {
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["-xzf", path, "-C", folder]);
}
