import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { stringify } from "yaml";
import { CopilotError } from "../copilot-error.js";
import { jsonText, type JsonLikeValue } from "./json-like.js";
import { type DownloadedLiteral, type DownloadContext, downloadLiteral } from "./download-literal.js";

/** Format of the file with all inputs; inputs.pb is always written. */
export type InputsFormat = "JSON" | "YAML" | "PROTO";

export interface InputsTarget {
  /** URI of inputs.pb. */
  readonly from: string;
  readonly folder: string;
  readonly format: InputsFormat;
}

/**
 * Downloads the inputs of a task to a folder: an entry for each variable, and all of them in one
 * file. @throws CopilotError, BlobError
 */
export async function downloadInputs({ from, folder, format }: InputsTarget, context: DownloadContext): Promise<void> {
  await mkdir(folder, { recursive: true });
  const bytes = await context.blobs.get(from);
  if (bytes === undefined) throw new CopilotError("SYSTEM", `there are no inputs at ${from}`);
  const inputs: LiteralMap = fromBinary(LiteralMapSchema, bytes);
  const downloaded: (readonly [string, DownloadedLiteral])[] = [];
  // Sequential: the parts of several files at once would be in memory, and a folder is downloaded
  // in parallel anyway.
  for (const [name, literal] of Object.entries(inputs.literals)) {
    try {
      downloaded.push([name, await downloadLiteral(literal, join(folder, name), context)]);
    } catch (error) {
      throw withVariableName(name, error);
    }
  }
  const literals = Object.fromEntries(downloaded.map(([name, { literal }]) => [name, literal]));
  const values: JsonLikeValue = Object.fromEntries(downloaded.map(([name, { value }]) => [name, value]));
  const file = (name: string, content: string | Uint8Array) => writeFile(join(folder, name), content, { mode: 0o777 });
  await file("inputs.pb", toBinary(LiteralMapSchema, create(LiteralMapSchema, { literals })));
  switch (format) {
    case "JSON":
      return file("inputs.json", jsonText(values));
    case "YAML":
      return file("inputs.yaml", stringify(values));
    case "PROTO":
      return;
  }
}

/** Adds the variable to the message of the failure. */
function withVariableName(variable: string, error: unknown): unknown {
  if (!(error instanceof CopilotError)) return error;
  return new CopilotError(error.origin, `input ${variable}: ${error.message}`, { cause: error });
}
