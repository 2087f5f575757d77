import type { ClusterResourcesConfig, DataSource } from "./config-schema.js";
import { RESERVED_VARIABLES } from "./config-schema.js";

/** Value of a template variable. */
export type TemplateValue =
  | {
      readonly text: string;
      /** Set by users through attributes: always a string, number or boolean. */
      readonly scalarOnly: boolean;
      /** True when errors may contain the value. */
      readonly loggable: boolean;
    }
  /** Reason for a missing value. */
  | { readonly missing: string };

export interface ValueSources {
  readonly config: Pick<ClusterResourcesConfig, "templateData" | "customData">;
  /** Cluster-resource attributes of the project and domain. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** @throws Error when the file cannot be read. */
  readonly readText: (path: string) => string;
}

export interface Scope {
  readonly project: string;
  readonly domain: string;
  readonly namespace: string;
}

/**
 * Resolves values by variable: attributes override those of the domain, which override those for
 * all domains.
 */
export function valuesFor(scope: Scope, { config, attributes, env, readText }: ValueSources): ReadonlyMap<string, TemplateValue> {
  const values = new Map<string, TemplateValue>();
  const ofDomain = Object.hasOwn(config.customData, scope.domain) ? config.customData[scope.domain] : undefined;
  for (const [name, source] of [...Object.entries(config.templateData), ...Object.entries(ofDomain ?? {})]) {
    values.set(name, valueOf(source, { env, readText }));
  }
  for (const [name, text] of Object.entries(attributes)) {
    if (!RESERVED_VARIABLES.has(name)) values.set(name, { text, scalarOnly: true, loggable: false });
  }
  for (const name of ["project", "domain", "namespace"] as const) values.set(name, { text: scope[name], scalarOnly: true, loggable: true });
  return values;
}

function valueOf({ value, valueFrom }: DataSource, { env, readText }: Pick<ValueSources, "env" | "readText">): TemplateValue {
  const given = (text: string): TemplateValue => ({ text, scalarOnly: false, loggable: false });
  if (value !== undefined) return given(value);
  if (valueFrom?.env !== undefined) {
    const text = env[valueFrom.env];
    return text ? given(text) : { missing: `environment variable ${valueFrom.env} is not set` };
  }
  const path = valueFrom?.filePath ?? "";
  try {
    const text = readText(path);
    return text === "" ? { missing: `file ${path} is empty` } : given(text);
  } catch (error) {
    return { missing: `file ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "error"})` };
  }
}
