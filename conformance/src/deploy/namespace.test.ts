import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { describe, expect, test } from "vitest";
import { OPTIONAL_FOLDERS } from "../services.js";
import { buildFolder, hasKubectl, kubernetesFolder, type Manifest, overlays } from "./manifests.js";

const RESOURCES = ["monitoring", "nats", ...OPTIONAL_FOLDERS];

interface Kustomization {
  readonly resources: readonly string[];
  readonly components: readonly string[];
}

/** Builds a site's copy of an overlay, with another namespace and more resources. */
function buildCopy(overlay: string, namespace: string): readonly Manifest[] {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-copy-"));
  try {
    cpSync(kubernetesFolder, folder, { recursive: true });
    const copy = join(folder, "overlays", overlay);
    const file = join(copy, "kustomization.yaml");
    const kustomization = parse(readFileSync(file, "utf8")) as Kustomization;
    const resources = [...kustomization.resources, ...RESOURCES.map((path) => `../../${path}`)];
    const isWithAdmin = kustomization.components.some((path) => /admin-(account|in-cluster)$/.test(path));
    const components = [...kustomization.components, ...(isWithAdmin ? ["../../cluster-resources/access"] : [])];
    writeFileSync(file, JSON.stringify({ ...kustomization, resources, components, namespace }));
    return buildFolder(copy).objects;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe.skipIf(!hasKubectl()).each(overlays())("overlay %s with all optional parts in another namespace", (overlay) => {
  const objects = hasKubectl() ? buildCopy(overlay, "other") : [];

  test("names the default namespace nowhere", () => {
    const names = objects
      .filter((object) => JSON.stringify(object).includes('"flyte"'))
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names).toEqual([]);
    expect(objects.find(({ kind }) => kind === "Namespace")?.metadata.name).toBe("other");
  });

  test("binds roles to accounts in that namespace", () => {
    const bindings = objects.filter(({ kind }) => kind.endsWith("RoleBinding"));
    expect(bindings.length).toBeGreaterThan(0);
    const accounts = objects
      .filter(({ kind }) => kind === "ServiceAccount")
      .map(({ metadata: { name, namespace } }) => ({ kind: "ServiceAccount", name, namespace }));
    for (const { subjects } of bindings) expect(accounts).toEqual(expect.arrayContaining(subjects as unknown[]));
  });
});
