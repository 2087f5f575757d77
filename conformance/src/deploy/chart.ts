import { execFileSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { findHelm } from "@flyte-ts/test-servers";
import { type Built, parseManifests } from "./manifests.js";

export const chartFolder = join(resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", ".."), "deploy", "helm", "flyte-ts");

/** The chart, filled by Helm for the namespace flyte, as `helm template` does it. */
export interface Chart {
  /** @throws Error with what Helm says */
  template(args: readonly string[]): Built;
  /** Runs Helm with other words, and answers what it prints. */
  run(args: readonly string[]): string;
}

/** Undefined, with the reason printed, where there is no Helm. The first call on a machine builds it, which takes minutes. */
export async function chart(): Promise<Chart | undefined> {
  let helm: string;
  try {
    helm = await findHelm((what) => process.stderr.write(`building ${what} (once, a few minutes) …\n`));
  } catch (error) {
    process.stderr.write(`skipped, no Helm: ${(error as Error).message.replaceAll(/\s*\n\s*/g, "; ")}\n`);
    return undefined;
  }
  const run = (args: readonly string[]) =>
    execFileSync(helm, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 64 * 1024 * 1024 });
  return {
    template(args) {
      const all = ["template", "flyte", chartFolder, "--namespace", "flyte", "--kube-version", "1.34.1", ...args];
      const text = run(all);
      return { text, objects: parseManifests(text) };
    },
    run,
  };
}

/** What turns the chart into what an overlay is: its values, and the two objects that Helm has other ways for. */
export function overlayArguments(name: string): readonly string[] {
  const hasDataPlane = name !== "control-plane";
  return [
    "-f",
    join(chartFolder, "overlays", `${name}.yaml`),
    "--set",
    "parts.namespace=true",
    ...(hasDataPlane ? ["--include-crds"] : []),
  ];
}
