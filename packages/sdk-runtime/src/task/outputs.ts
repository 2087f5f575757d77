import { createHash } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { DynamicJobSpecSchema } from "@flyte-ts/idl/flyteidl/core/dynamic_job_pb";
import { type Literal, type LiteralMap, LiteralMapSchema, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { literalTypeOf, type TaskDefinition, type TaskResult } from "@flyte-ts/sdk/runtime";
import type { RunRequest } from "../run-request.js";
import { RunFailure, userError } from "../failure/failure.js";
import { joinUri } from "../blob/join-uri.js";

const BYTES_PER_MB = 1 << 20;

/** Writes outputs, or the graph of a dynamic task, after all files that they name. */
export async function writeOutputs(request: RunRequest, definition: TaskDefinition, result: TaskResult): Promise<void> {
  const { addresses, blobs } = request;
  if ("futures" in result) {
    await blobs.write(joinUri(addresses.outputPrefix, "futures.pb"), toBinary(DynamicJobSpecSchema, result.futures));
    return;
  }
  const outputs = await offloadLarge(request, definition, result.outputs);
  await blobs.write(joinUri(addresses.outputPrefix, "outputs.pb"), toBinary(LiteralMapSchema, outputs));
}

/** Writes values above the server's threshold beside the message. */
async function offloadLarge(request: RunRequest, { outputs: types }: TaskDefinition, { literals }: LiteralMap): Promise<LiteralMap> {
  const { environment } = request;
  const threshold = megabytes(environment["_F_L_MIN_SIZE_MB"]);
  const maximum = megabytes(environment["_F_L_MAX_SIZE_MB"]);
  const kept: Record<string, Literal> = {};
  for (const [name, literal] of Object.entries(literals)) {
    const bytes = toBinary(LiteralSchema, literal);
    const type = types[name];
    if (threshold === undefined || bytes.length < threshold || type === undefined) {
      kept[name] = literal;
      continue;
    }
    if (maximum !== undefined && bytes.length > maximum)
      throw new RunFailure(
        `the output ${name} has ${bytes.length} bytes, the server allows ${maximum}; return a file`,
        userError("InvalidOutput"),
      );
    const uri = joinUri(request.addresses.outputPrefix, `${name}_offloaded_metadata.pb`);
    await request.blobs.write(uri, bytes);
    const hash = literal.hash === "" ? createHash("sha256").update(bytes).digest("base64url") : literal.hash;
    const metadata = { uri, sizeBytes: BigInt(bytes.length), inferredType: literalTypeOf(type) };
    kept[name] = create(LiteralSchema, { hash, value: { case: "offloadedMetadata", value: metadata } });
  }
  return create(LiteralMapSchema, { literals: kept });
}

function megabytes(value: string | undefined): number | undefined {
  const number = value === undefined || value === "" ? Number.NaN : Number(value);
  return Number.isFinite(number) && number >= 0 ? number * BYTES_PER_MB : undefined;
}
