// Builds combinations of deploy/kubernetes that no overlay has.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parse, parseAllDocuments, stringify } from "yaml";
import { root } from "../prepare.mjs";

export const manifests = join(root, "deploy", "kubernetes");
/** Namespace of the overlays. */
const NAMESPACE = "flyte";

/** Reports whether kubectl, which contains kustomize, is on the PATH. */
export function hasKubectl() {
  return spawnSync("kubectl", ["version", "--client"], { stdio: "ignore" }).status === 0;
}

/**
 * Returns the objects of bases with components; ConfigMaps have the names without kustomize's
 * content hash.
 */
export function build({ bases, components = [] }) {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-chart-"));
  try {
    const at = (name) => relative(folder, join(manifests, name));
    const kustomization = { namespace: NAMESPACE, resources: bases.map(at), components: components.map(at) };
    writeFileSync(join(folder, "kustomization.yaml"), stringify(kustomization));
    const { status, stdout, stderr } = spawnSync("kubectl", ["kustomize", folder], { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
    if (status !== 0) throw new Error(`kubectl kustomize: ${stderr}`);
    return withoutSums(parseAllDocuments(stdout).map((document) => document.toJS()));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Parses an overlay's kustomization.yaml. */
export function overlay(name) {
  return parse(readFileSync(join(manifests, "overlays", name, "kustomization.yaml"), "utf8"));
}

/** Removes the content hash that kustomize appends to names of ConfigMaps. */
function withoutSums(objects) {
  const names = objects.filter(({ kind }) => kind === "ConfigMap").map(({ metadata }) => metadata.name);
  const text = names.reduce(
    (all, name) => all.replaceAll(`"${name}"`, `"${name.replace(/-[2-9bcdfghkmt]{10}$/, "")}"`),
    JSON.stringify(objects),
  );
  return JSON.parse(text);
}
