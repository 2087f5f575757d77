import { readFileSync } from "node:fs";
import { fromJsonString } from "@bufbuild/protobuf";
import { createClient } from "@flyte-ts/client";
import { ExecutionCreateRequestSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { UsageError } from "../usage-error.js";
import { openAdminChannel, parsePositionals } from "./admin-channel.js";

/** File descriptor of the standard input. */
const STDIN = 0;

/**
 * `flyte-ts launch FILE`: starts the execution that a file describes and prints its name. `-` reads
 * the standard input.
 *
 * @throws UsageError when the file cannot be read or is no request
 */
export async function launchCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const parsed = parsePositionals(argv, { words: 1, options: {} });
  if (parsed === undefined) return 2;
  const [file = ""] = parsed.words;
  const request = readRequest(file);
  const channel = openAdminChannel(parsed.values.endpoint);
  try {
    const { id } = await createClient({ channel, service: AdminService }).createExecution(request);
    write(`${id?.name ?? ""}\n`);
  } finally {
    channel.close();
  }
  return 0;
}

function readRequest(file: string) {
  try {
    return fromJsonString(ExecutionCreateRequestSchema, readFileSync(file === "-" ? STDIN : file, "utf8"));
  } catch (cause) {
    throw new UsageError(`${file} is not the JSON of an ExecutionCreateRequest: ${(cause as Error).message}`, { cause });
  }
}
