import { fnv64a } from "@flyte-ts/domain/name";
import type { ExecutionQueueSettings } from "../config.js";

/** An execution, as far as its queue depends on it. */
export interface QueueScope {
  readonly domain: string;
  /** Name of the execution, which chooses among several queues of a tag. */
  readonly execution: string;
  /** Tags of the EXECUTION_QUEUE attributes; undefined: there are none. */
  readonly tags: readonly string[] | undefined;
}

/**
 * Queue of an execution's tasks: that of the first known tag of its attributes, else of its domain,
 * else of all domains. Empty: none is configured. Source: flyteadmin, `queues`.
 */
export function executionQueue(settings: ExecutionQueueSettings, { domain, execution, tags = [] }: QueueScope): string {
  return queueOfTags(settings, tags, execution) ?? queueOfTags(settings, domainTags(settings, domain), execution) ?? "";
}

/** Tags of the domain; of several entries the last counts. */
function domainTags({ workflowConfigs }: ExecutionQueueSettings, domain: string): readonly string[] {
  const tagsOf = (name: string) => workflowConfigs.findLast((config) => config.domain === name)?.tags ?? [];
  const own = tagsOf(domain);
  return own.length > 0 ? own : tagsOf("");
}

function queueOfTags({ executionQueues }: ExecutionQueueSettings, tags: readonly string[], execution: string): string | undefined {
  for (const tag of tags) {
    const matches = executionQueues.filter(({ attributes }) => attributes.includes(tag));
    // By name, so that a repeated request chooses the same queue.
    if (matches.length > 0) return matches[Number(BigInt(fnv64a(execution)) % BigInt(matches.length))]?.dynamic;
  }
  return undefined;
}
