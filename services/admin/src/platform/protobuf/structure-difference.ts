import type { DescMessage, JsonValue, MessageShape } from "@bufbuild/protobuf";
import { toLenientJson } from "@flyte-ts/rpc";

/** Maximum length of a list of differences in a message, characters. */
const MAX_TEXT = 10_000;

/**
 * Formats the changes between two messages, one value at a time: `/template/container/image:` with
 * the old (`-`) and the new (`+`) value below.
 */
export function structureDifference<Desc extends DescMessage>(schema: Desc, before: MessageShape<Desc>, after: MessageShape<Desc>): string {
  const lines: string[] = [];
  const json = (message: MessageShape<Desc>) => toLenientJson(schema, message, { useProtoFieldName: true });
  compare({ path: "", before: json(before), after: json(after) }, lines);
  const text = lines.join("\n");
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

interface Pair {
  readonly path: string;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

function compare({ path, before, after }: Pair, lines: string[]): void {
  if (comparable(before, after) || (isTree(before) && after === undefined) || (before === undefined && isTree(after))) {
    const [left, right] = [(before ?? {}) as Record<string, JsonValue>, (after ?? {}) as Record<string, JsonValue>];
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      compare({ path: `${path}/${key}`, before: left[key], after: right[key] }, lines);
    }
    return;
  }
  if (before !== after) lines.push(`${path}:\n\t- ${show(before)} \n\t+ ${show(after)}`);
}

const comparable = (before: JsonValue | undefined, after: JsonValue | undefined) =>
  isTree(before) && isTree(after) && Array.isArray(before) === Array.isArray(after);
const isTree = (value: JsonValue | undefined) => typeof value === "object" && value !== null;
const show = (value: JsonValue | undefined) => (typeof value === "string" ? value : (JSON.stringify(value) ?? "(none)"));
