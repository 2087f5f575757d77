import type { Definition } from "@flyte-ts/sdk/runtime";

/** Formats outputs as `name = value`, a line for each. */
export function formatOutputs({ single, outputs }: Pick<Definition, "single" | "outputs">, value: unknown): string[] {
  const [only = ""] = Object.keys(outputs);
  const values = single ? { [only]: value } : ((value ?? {}) as Readonly<Record<string, unknown>>);
  return Object.entries(values).map(([name, output]) => `${name} = ${formatValue(output)}`);
}

/** Formats a value as JSON; files and data sets by their addresses. */
export function formatValue(value: unknown): string {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === "bigint") return String(part);
    if (part instanceof Uint8Array) return Buffer.from(part).toString("base64");
    if (typeof part === "object" && part !== null && "uri" in part && typeof part.uri === "string") return part.uri;
    return typeof part === "number" && !Number.isFinite(part) ? String(part) : part;
  });
  return text ?? "none";
}
