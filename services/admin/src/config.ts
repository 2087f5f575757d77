import {
  databaseSettings,
  drainSettings,
  httpPolicySettings,
  loopbackUnlessAuthenticated,
  logLevel,
  natsStreamSettings,
  openToNetwork,
  opsSettings,
  port,
  tracingSettings,
} from "@flyte-ts/config";
import { z } from "zod";
import { automationSettings } from "./automation/index.js";
import { consoleSettings } from "./console/index.js";
import { clustersSettings } from "./clusters/index.js";
import { dispatchSettings } from "./dispatch/index.js";
import { eventsSettings } from "./events/index.js";
import { executionsSettings } from "./executions/index.js";
import { identitySettings, isOrigin } from "./identity/index.js";
import { platformSettings } from "./platform/index.js";
import { registrySettings } from "./registry/index.js";

const settings = z.strictObject({
  /** Export of call spans over OTLP/HTTP; spans of an execution's calls belong to its trace. */
  tracing: tracingSettings,
  logLevel,
  server: z
    .strictObject({
      /** Address on which the gRPC and HTTP ports listen; `0.0.0.0` is every IPv4 interface. */
      host: z.string().default("127.0.0.1"),
      /** Port for gRPC. */
      grpcPort: port.default(8089),
      /** Port for REST and, for clients that use one address for both, gRPC. */
      httpPort: port.default(8088),
      /**
       * Maximum request size, bytes. A graph of 100,000 nodes has about 10 MB; Flyte's default is 4
       * MiB.
       */
      maxMessageBytes: z
        .number()
        .int()
        .positive()
        .default(64 * 1024 * 1024),
      ...httpPolicySettings,
      /** Makes the ports accept TLS only. */
      tls: z
        .strictObject({
          /** PEM file: the certificate and its intermediate certificates. */
          certFile: z.string().min(1),
          /** PEM file. */
          keyFile: z.string().min(1),
          /**
           * Interval between checks of the files for changes, seconds: a renewed certificate needs
           * no restart.
           */
          reloadSeconds: z.number().positive().max(86_400).default(60),
        })
        .optional(),
      openToNetwork,
      drain: drainSettings,
    })
    .prefault({}),
  ops: opsSettings(10254),
  database: databaseSettings({ name: "flyteadmin", maxConnections: 20 }),
  nats: natsStreamSettings,
  ...platformSettings,
  ...registrySettings,
  ...clustersSettings,
  ...executionsSettings,
  ...eventsSettings,
  ...dispatchSettings,
  ...identitySettings,
  ...automationSettings,
  ...consoleSettings,
});

/** Admin's configuration. Defaults are those of Flyte 1.16 where it has the same setting. */
export const adminConfigSchema = settings
  .refine(...loopbackUnlessAuthenticated)
  .refine(({ auth }) => auth.mode === "open" || auth.builtIn !== undefined || auth.providers.length > 0, {
    path: ["auth", "providers"],
    message: "auth.mode is required, so configure at least one of auth.providers, or auth.builtIn ({} takes all its defaults)",
  })
  .refine(({ auth }) => auth.mode === "open" || auth.publicUrl !== undefined, {
    path: ["auth", "publicUrl"],
    message: "auth.mode is required, so set the address at which clients reach admin, such as https://flyte.example.com",
  })
  .refine(({ auth }) => auth.mode === "open" || auth.publicUrl === undefined || isOrigin(auth.publicUrl), {
    path: ["auth", "publicUrl"],
    message: "the address must be http:// or https:// and a host, without a path",
  })
  .superRefine(({ clusters, placement }, report) => {
    const known = new Set(clusters.map(({ name }) => name));
    for (const [label, entries] of Object.entries(placement.labelClusterMap)) {
      for (const [index, { id }] of entries.entries()) {
        if (known.has(id)) continue;
        report.addIssue({
          code: "custom",
          path: ["placement", "labelClusterMap", label, index, "id"],
          message: `there is no cluster ${id}`,
        });
      }
    }
    const { defaultExecutionLabel: label } = placement;
    if (label !== "" && !Object.hasOwn(placement.labelClusterMap, label)) {
      const message = `label ${label} is not in labelClusterMap`;
      report.addIssue({ code: "custom", path: ["placement", "defaultExecutionLabel"], message });
    }
  });

export type AdminConfig = z.infer<typeof adminConfigSchema>;
