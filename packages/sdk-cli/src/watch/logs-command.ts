import { createClient, resumeStream } from "@flyte-ts/client";
import { LiveService } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { UsageError } from "../usage-error.js";
import { noteWaiting, openAdminChannel, parsePositionals } from "./admin-channel.js";

const options = {
  attempt: { type: "string" },
  item: { type: "string" },
  container: { type: "string", default: "" },
  tail: { type: "string" },
  "no-follow": { type: "boolean", default: false },
  times: { type: "boolean", default: false },
} as const;

/**
 * `flyte-ts logs PROJECT DOMAIN NAME NODE`: prints the log of a node's task, during and after its
 * run.
 */
export async function logsCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const parsed = parsePositionals(argv, { words: 4, options });
  if (parsed === undefined) return 2;
  const [project = "", domain = "", name = "", nodeId = ""] = parsed.words;
  const { attempt, item, tail, container, times, endpoint, "no-follow": noFollow } = parsed.values;
  const selection = {
    ...(attempt !== undefined && { attempt: parseCount("--attempt", attempt) }),
    ...(item !== undefined && { item: parseCount("--item", item) }),
    ...(tail !== undefined && { tailLines: parseCount("--tail", tail) }),
  };
  const channel = openAdminChannel(endpoint);
  const live = createClient({ channel, service: LiveService });
  const id = { nodeId, executionId: { project, domain, name } };
  const answered = noteWaiting(`the log of node ${nodeId}`);
  try {
    for await (const { lines } of resumeStream((cursor) => live.followLog({ id, container, noFollow, ...selection, cursor }))) {
      answered();
      for (const { time, text } of lines) write(times ? `${time} ${text}\n` : `${text}\n`);
    }
  } finally {
    answered();
    channel.close();
  }
  return 0;
}

/** @throws UsageError unless the value of the flag is a whole number of at least 0 */
function parseCount(flag: string, value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new UsageError(`${flag} must be a whole number of at least 0, not ${JSON.stringify(value)}`);
  return Number(value);
}
