import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseAllDocuments } from "yaml";
import { root } from "../repository.js";

export const kubernetesFolder = join(root, "deploy", "kubernetes");

/** An object of a manifest. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

/** Reports whether kubectl, which contains kustomize, is on the PATH. */
export function hasKubectl(): boolean {
  return spawnSync("kubectl", ["version", "--client"], { stdio: "ignore" }).status === 0;
}

export function overlays(): string[] {
  return readdirSync(join(kubernetesFolder, "overlays")).toSorted();
}

/** Folders of `deploy/kubernetes` to add to an overlay, as a site's own copy of it would. */
export interface Additions {
  readonly components?: readonly string[];
  readonly resources?: readonly string[];
}

/** Returns the objects that `kubectl apply -k` would send. */
export function buildOverlay(name: string, { components = [], resources = [] }: Additions = {}): Built {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-overlay-"));
  try {
    const at = (path: string) => relative(folder, join(kubernetesFolder, path));
    const kustomization = { resources: [`overlays/${name}`, ...resources].map(at), components: components.map(at), namespace: "flyte" };
    // JSON is YAML.
    writeFileSync(join(folder, "kustomization.yaml"), JSON.stringify(kustomization));
    return buildFolder(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface Built {
  readonly text: string;
  readonly objects: readonly Manifest[];
}

/** Returns the objects of a folder with a kustomization. */
export function buildFolder(folder: string): Built {
  const text = execFileSync("kubectl", ["kustomize", folder], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return { text, objects: parseManifests(text) };
}

export function parseManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((object): object is Manifest => object !== null);
}
