import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import type { VariableMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { type Literal, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { CopilotError } from "../copilot-error.js";
import type { Blobs } from "../store/retrying-store.js";
import { linkTarget } from "./link-target.js";
import { parseLiteral } from "./parse-literal.js";
import { findOutputFile } from "./output-file.js";
import { blobLiteral, uploadBlob } from "./upload-blob.js";

export interface OutputsSource {
  readonly folder: string;
  readonly variables: VariableMap;
  /** Prefix of outputs.pb. */
  readonly outputPrefix: string;
  /** Prefix of files. */
  readonly rawOutputPrefix: string;
  /** False: the file of a blob holds its URI; the task itself has uploaded the blob. */
  readonly withFiles: boolean;
}

/** File with which a task reports a failure and its reason. */
const ERROR_FILE = "_ERROR";
const MAX_VALUE_BYTES = 1024 * 1024;

/**
 * Uploads the outputs in a task's folder: files to the blob store, values into outputs.pb. @throws
 * CopilotError, BlobError
 */
export async function uploadOutputs(source: OutputsSource, blobs: Blobs): Promise<void> {
  const taskErrorMessage = await readTaskError(join(source.folder, ERROR_FILE));
  if (taskErrorMessage !== undefined) throw new CopilotError("USER", taskErrorMessage, { code: "UserError" });
  const literals: Record<string, Literal> = {};
  for (const [name, { type }] of Object.entries(source.variables.variables)) {
    try {
      if (type === undefined) throw new CopilotError("USER", "has no type");
      literals[name] = await outputLiteral(name, type, { place: source, blobs });
    } catch (error) {
      if (!(error instanceof CopilotError)) throw error;
      throw new CopilotError(error.origin, `output ${name}: ${error.message}`, { cause: error });
    }
  }
  const outputs = create(LiteralMapSchema, { literals });
  await blobs.put(blobs.join(source.outputPrefix, "outputs.pb"), toBinary(LiteralMapSchema, outputs));
}

async function outputLiteral(
  name: string,
  type: LiteralType,
  { place: source, blobs }: { place: OutputsSource; blobs: Blobs },
): Promise<Literal> {
  const file = await findOutputFile(join(source.folder, name));
  if (type.type.case === "blob" && source.withFiles) {
    return uploadBlob(blobs, file, { uri: blobs.join(source.rawOutputPrefix, name), type: type.type.value });
  }
  if (file.isFolder) throw new CopilotError("USER", `${file.path} is a folder, but the output's type is not a folder type`);
  if (file.size > MAX_VALUE_BYTES) {
    throw new CopilotError("USER", `${file.path} has ${file.size} bytes; a value may have ${MAX_VALUE_BYTES} at most`);
  }
  const bytes = await readFile(file.path).catch((cause: unknown) => {
    throw new CopilotError("USER", `${file.path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  });
  if (type.type.case === "blob") return blobLiteral(new TextDecoder().decode(bytes).trim(), type.type.value);
  return parseLiteral(bytes, type);
}

async function readTaskError(path: string): Promise<string | undefined> {
  const entry = await lstat(path).catch(() => undefined);
  if (entry === undefined) return undefined;
  const found = entry.isSymbolicLink() ? await stat(await linkTarget(path, await realpath(dirname(path)))) : entry;
  if (!found.isFile() || found.size > MAX_VALUE_BYTES)
    return `the task wrote ${path}, which is no file of ${MAX_VALUE_BYTES} bytes at most`;
  return (await readFile(path, "utf8")).trim() || `the task wrote ${path}, but it contains no error message`;
}
