import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
export const kubernetesFolder = join(root, "deploy", "kubernetes");

/** An object as a manifest has it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

/** Whether kubectl is on the PATH; kustomize comes with it. */
export function kubectlIsThere(): boolean {
  return spawnSync("kubectl", ["version", "--client"], { stdio: "ignore" }).status === 0;
}

export function overlays(): string[] {
  return readdirSync(join(kubernetesFolder, "overlays")).toSorted();
}

/** What `kubectl apply -k` would send. */
export function buildOverlay(name: string): { readonly text: string; readonly objects: readonly Manifest[] } {
  const text = execFileSync("kubectl", ["kustomize", join(kubernetesFolder, "overlays", name)], { encoding: "utf8" });
  return { text, objects: parseManifests(text) };
}

export function parseManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((object): object is Manifest => object !== null);
}
