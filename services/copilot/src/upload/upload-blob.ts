import { create } from "@bufbuild/protobuf";
import { mapConcurrent } from "@flyte-ts/async";
import { type Literal, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type BlobType, BlobType_BlobDimensionality as Dimensionality } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { CopilotError } from "../copilot-error.js";
import type { Blobs } from "../store/retrying-store.js";
import { listFiles } from "./list-files.js";
import type { OutputFile } from "./output-file.js";

const FILE_CONCURRENCY = 4;

/**
 * Uploads a file, or a folder with all its contents, to the blob store. @throws CopilotError,
 * BlobError
 */
export async function uploadBlob(blobs: Blobs, file: OutputFile, { uri, type }: { uri: string; type: BlobType }): Promise<Literal> {
  const wantsFolder = type.dimensionality === Dimensionality.MULTIPART;
  if (file.isFolder !== wantsFolder) {
    const [found, wanted] = file.isFolder ? ["folder", "file"] : ["file", "folder"];
    throw new CopilotError("USER", `${file.path} is a ${found}, and the output's type is a ${wanted}`);
  }
  if (file.isFolder) {
    const files = await listFiles(file.path, file.root);
    await mapConcurrent(files, FILE_CONCURRENCY, ({ name, path }) => blobs.putFile(blobs.join(uri, name), path));
  } else await blobs.putFile(uri, file.path);
  return blobLiteral(uri, type);
}

export function blobLiteral(uri: string, type: BlobType): Literal {
  return create(LiteralSchema, { value: { case: "scalar", value: { value: { case: "blob", value: { uri, metadata: { type } } } } } });
}
