import { loadServices } from "@flyte-ts/service-manifest";
import { z } from "zod";
import { repositoryRoot } from "@flyte-ts/local-stack";

const cluster = z.strictObject({
  /** Name in admin's `clusters`. */
  name: z.string().regex(/^[A-Za-z0-9][\w.-]*$/, "must be a name of letters, digits, dots and dashes"),
  kubeconfig: z.string().min(1),
  context: z.string().optional(),
});

/** Backup order: a later database may hold facts that earlier ones lack, never the reverse. */
export const DATABASES: readonly string[] = (await loadServices(repositoryRoot))
  .flatMap(({ manifest: { id, requires } }) =>
    requires.database === undefined ? [] : [{ id, position: requires.database.backupPosition }],
  )
  .toSorted((a, b) => a.position - b.position)
  .map(({ id }) => id);

const targetSettings = {
  /**
   * Databases of the services, `postgresql://user:password@host/name`; omitted ones are skipped.
   */
  databases: z.strictObject(Object.fromEntries(DATABASES.map((name) => [name, z.string().optional()]))).prefault({}),
  /** The only data plane. */
  kubeconfig: z.string().optional(),
  context: z.string().optional(),
  /** The data planes, when there are several: `[{name: east, kubeconfig: FILE}, …]`. */
  clusters: z.array(cluster).default([]),
};

export const backupConfigSchema = z.strictObject({
  /** A folder that does not exist yet. */
  to: z.string().min(1),
  ...targetSettings,
});

export const restoreConfigSchema = z.strictObject({
  /** A folder that a backup wrote. */
  from: z.string().min(1),
  ...targetSettings,
});

type TargetSettings = Pick<z.infer<typeof backupConfigSchema>, "databases" | "kubeconfig" | "context" | "clusters">;

export type NamedCluster = z.infer<typeof cluster>;

export function databasesOf({ databases }: TargetSettings): readonly { readonly name: string; readonly url: string }[] {
  return DATABASES.flatMap((name) => {
    const url = databases[name];
    return url === undefined ? [] : [{ name, url }];
  });
}

/** The only data plane has the name `local`. */
export function clustersOf({ kubeconfig, context, clusters }: TargetSettings): readonly NamedCluster[] {
  return kubeconfig === undefined ? clusters : [{ name: "local", kubeconfig, ...(context && { context }) }, ...clusters];
}
