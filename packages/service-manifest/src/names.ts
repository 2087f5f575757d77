import type { ServiceManifest } from "./manifest-schema.js";

/** Names of a service, all derived from its id. */
export interface ServiceNames {
  /** Workload, service account and roles in Kubernetes, and its host name there. */
  readonly kubernetes: string;
  /** Image below the registry. */
  readonly image: string;
  /** Key in the values of the Helm chart. */
  readonly helm: string;
  /** Prefix of environment variables, such as `FLYTE_TS_PLUGIN_POD_`. */
  readonly envPrefix: string;
  readonly userAgent: string;
}

type Named = Pick<ServiceManifest, "id"> & { readonly image?: { readonly name?: string | undefined } } & {
  readonly kubernetes?: { readonly name?: string | undefined } | undefined;
};

export function serviceNames({ id, image, kubernetes }: Named): ServiceNames {
  return {
    kubernetes: kubernetes?.name ?? `flyte-${id}`,
    image: image?.name ?? id,
    helm: id.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
    envPrefix: `FLYTE_TS_${id.toUpperCase().replaceAll("-", "_")}_`,
    userAgent: `flyte-ts-${id}`,
  };
}
