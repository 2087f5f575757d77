import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export interface CustomResourceDefinition {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: object;
}

export interface UncheckedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Reads the definitions in an operator's own files. */
export function readDefinitions(folder: string, files: readonly string[]): CustomResourceDefinition[] {
  return files.map((file) => parse(readFileSync(join(folder, file), "utf8")) as CustomResourceDefinition);
}

/** Defines a kind whose objects the API server does not check. */
export function uncheckedDefinition({ group, version, kind }: UncheckedKind): CustomResourceDefinition {
  const singular = kind.toLowerCase();
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    // Groups below k8s.io are refused without this.
    metadata: { name: `${singular}s.${group}`, annotations: { "api-approved.kubernetes.io": "unapproved, for tests" } },
    spec: {
      scope: "Namespaced",
      group,
      names: { kind, plural: `${singular}s`, singular },
      versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };
}
