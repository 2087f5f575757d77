import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import type { VariableMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { type Literal, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { CopilotFailure } from "../failure.js";
import type { Blobs } from "../store/patient-store.js";
import { literalOfText } from "./literal-of-text.js";
import { outputFile } from "./output-file.js";
import { blobLiteral, uploadBlob } from "./upload-blob.js";

export interface OutputsPlace {
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
const MOST_BYTES = 1024 * 1024;

/** Uploads the outputs in a task's folder: files to the blob store, values into outputs.pb. @throws CopilotFailure, BlobError */
export async function uploadOutputs(place: OutputsPlace, blobs: Blobs): Promise<void> {
  const said = await taskError(join(place.folder, ERROR_FILE));
  if (said !== undefined) throw new CopilotFailure("USER", said, { code: "UserError" });
  const literals: Record<string, Literal> = {};
  for (const [name, { type }] of Object.entries(place.variables.variables)) {
    try {
      if (type === undefined) throw new CopilotFailure("USER", "has no type");
      literals[name] = await outputOf(name, type, { place, blobs });
    } catch (error) {
      if (!(error instanceof CopilotFailure)) throw error;
      throw new CopilotFailure(error.origin, `output ${name}: ${error.message}`, { cause: error });
    }
  }
  const outputs = create(LiteralMapSchema, { literals });
  await blobs.put(blobs.join(place.outputPrefix, "outputs.pb"), toBinary(LiteralMapSchema, outputs));
}

async function outputOf(name: string, type: LiteralType, { place, blobs }: { place: OutputsPlace; blobs: Blobs }): Promise<Literal> {
  const file = await outputFile(join(place.folder, name));
  if (type.type.case === "blob" && place.withFiles) {
    return uploadBlob(blobs, file, { uri: blobs.join(place.rawOutputPrefix, name), type: type.type.value });
  }
  if (file.isFolder) throw new CopilotFailure("USER", `${file.path} is a folder, and the output's type is none`);
  if (file.size > MOST_BYTES) {
    throw new CopilotFailure("USER", `${file.path} has ${file.size} bytes; a value may have ${MOST_BYTES} at most`);
  }
  const bytes = await readFile(file.path).catch((cause: unknown) => {
    throw new CopilotFailure("USER", `${file.path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  });
  if (type.type.case === "blob") return blobLiteral(new TextDecoder().decode(bytes).trim(), type.type.value);
  return literalOfText(bytes, type);
}

async function taskError(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (!found.isFile() || found.size > MOST_BYTES) return `the task wrote ${path}, which is no file of ${MOST_BYTES} bytes at most`;
  return (await readFile(path, "utf8")).trim() || `the task wrote ${path}, without a reason in it`;
}
