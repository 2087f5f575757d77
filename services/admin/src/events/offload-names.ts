import type { OffloadUris } from "@flyte-ts/execution-state";

export interface OffloadConfig {
  readonly storage: { readonly container: string; readonly metadataPrefix: string };
}

/** Flyte's URIs of values that events contained inline. */
export function offloadNames({ storage }: OffloadConfig): OffloadUris {
  const base = [storage.container.replace(/\/+$/, ""), storage.metadataPrefix].filter((part) => part !== "").join("/");
  const name = (parts: readonly string[], last: string) => [base, ...parts, last].join("/");
  return {
    inputs: (...parts) => name(parts, "offloaded_inputs"),
    outputs: (...parts) => name(parts, "offloaded_outputs"),
  };
}
