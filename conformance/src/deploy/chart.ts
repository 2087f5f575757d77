import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findHelm } from "@flyte-ts/test-servers";
import { type Built, parseManifests } from "./manifests.js";
import { root } from "../repository.js";

export const chartFolder = join(root, "deploy", "helm", "flyte-ts");

/**
 * Renders the chart for the namespace flyte, as `helm template` does. @throws Error with Helm's
 * message
 */
export interface Chart {
  /** @throws Error with Helm's message */
  template(args: readonly string[]): Built;
  /** Returns the notes that `helm install` prints. */
  notes(args: readonly string[]): string;
  /** Runs Helm with other arguments and returns its output. */
  run(args: readonly string[]): string;
}

/**
 * Returns undefined and prints the reason where Helm is missing. The first call on a machine builds
 * it, which takes minutes.
 */
export async function chart(): Promise<Chart | undefined> {
  let helm: string;
  try {
    helm = await findHelm((what) => process.stderr.write(`building ${what} (once, takes a few minutes) …\n`));
  } catch (error) {
    process.stderr.write(`skipped, no Helm: ${(error as Error).message.replaceAll(/\s*\n\s*/g, "; ")}\n`);
    return undefined;
  }
  const run = (args: readonly string[]) =>
    execFileSync(helm, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 64 * 1024 * 1024 });
  const template = (folder: string, args: readonly string[]) => {
    const text = run(["template", "flyte", folder, "--namespace", "flyte", "--kube-version", "1.34.1", ...args]);
    return { text, objects: parseManifests(text) };
  };
  return {
    template: (args) => template(chartFolder, args),
    notes: (args) => withNotesAsObject((folder) => template(folder, ["--show-only", "templates/notes.yaml", ...args])),
    run,
  };
}

/** Copies the chart: `helm template` renders no notes, so the copy has them in a ConfigMap. */
function withNotesAsObject(template: (folder: string) => Built): string {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-notes-"));
  try {
    cpSync(chartFolder, folder, { recursive: true });
    const notes = readFileSync(join(folder, "templates", "NOTES.txt"), "utf8");
    const object = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: notes }\ndata: { text: {{ include "notes" . | toJson }} }\n';
    writeFileSync(join(folder, "templates", "notes.yaml"), `{{- define "notes" }}${notes}{{ end -}}\n${object}`);
    const { text = "" } = (template(folder).objects[0]?.["data"] ?? {}) as { readonly text?: string };
    return text;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Arguments that make the chart equal to an overlay: its values, and the two objects that Helm
 * handles differently.
 */
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
