import { fromBinary } from "@bufbuild/protobuf";
import { loadOffloaded } from "@flyte-ts/domain/literal";
import { type LiteralMap, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { FileStore } from "../file/file.js";
import { readAll } from "../file/remote.js";

/** Replaces literals that the server keeps beside its messages by their content. */
export function withOffloaded(literals: LiteralMap, files: Pick<FileStore, "read">): Promise<LiteralMap> {
  return loadOffloaded(literals, async (uri) => fromBinary(LiteralSchema, await readAll(files.read(uri))));
}
