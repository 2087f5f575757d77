import { z } from "zod";

const port = z.number().int().min(0).max(65_535);

/** Settings of the local stack; the names are those of the flags. */
const settings = z.strictObject({
  /** Folder of all state. Default: `.flyte-ts` in the repository. */
  data: z.string().min(1, "the name of a folder is needed").optional(),
  /** Port of the API: gRPC and REST. flytekit expects a sandbox on 30080. */
  port: port.default(30_080),
  /** Port of the blob store (S3 API). flytekit expects the sandbox's on 30002. */
  blobPort: port.default(30_002),
  /** Port of the local cluster's Kubernetes API; 0 chooses a free one and keeps it. */
  clusterPort: port.default(0),
  /**
   * Use this Kubernetes cluster instead of the local one. Without `host` it should have no nodes:
   * this machine becomes its node.
   */
  kubeconfig: z.string().optional(),
  /**
   * Address at which pods on that cluster's nodes reach this machine: the API and the blob store
   * listen there, and tasks do not run as local processes. Without `auth` every client of that
   * address has all rights.
   */
  host: z.union([z.ipv4(), z.ipv6()], { error: "the host is an IP address of this machine" }).optional(),
  /**
   * Address of an S3 service instead of the local blob store; its keys are in the usual variables
   * `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`.
   */
  s3: z.url({ protocol: /^https?$/, error: "the address of an S3 service is a URL: http://host:port or https://host" }).optional(),
  /** Bucket of all data. The local blob store creates it; in another S3 service it must exist. */
  bucket: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "a bucket is named by 3 to 63 small letters, digits, dots and hyphens")
    .default("my-s3-bucket"),
  /**
   * Run services from their bundles, built by `npm run build`, instead of single modules: they
   * start in half the time.
   */
  bundles: z.boolean().default(false),
  /**
   * Requirements file of pip: its packages are installed into a Python environment of this stack
   * alone, for its tasks.
   */
  requirements: z.string().optional(),
  /** Number of propeller replicas, which share the workflows. */
  propellers: z.number().int().min(1).max(8).default(1),
  /** Ids of optional services to run, such as `[plugin-demo]`. */
  services: z.array(z.string().min(1)).default([]),
  /**
   * Folders with further plugin services: each folder in them is a built package with a manifest.
   */
  pluginFolders: z.array(z.string().min(1)).default([]),
  /** Run the training example once the stack is ready. */
  example: z.boolean().default(true),
  /** Stop after the example, with its outcome as exit status. */
  exit: z.boolean().default(false),
  /**
   * Require sign-in: admin issues the tokens, and the password of user `admin` is written to a file
   * of the state.
   */
  auth: z.boolean().default(false),
  logLevel: z.enum(["trace", "debug", "info", "warn", "error"]).default("info"),
});

/** Flags whose ports must differ, since their listeners share an address. */
const PORT_FLAGS = ["port", "blobPort", "clusterPort"] as const;

export const stackConfigSchema = settings.superRefine((config, context) => {
  const owners = new Map<number, string>();
  for (const flag of PORT_FLAGS) {
    const value = config[flag];
    const unused =
      value === 0 || (flag === "blobPort" && config.s3 !== undefined) || (flag === "clusterPort" && config.kubeconfig !== undefined);
    if (unused) continue;
    const owner = owners.get(value);
    if (owner === undefined) owners.set(value, flag);
    else context.addIssue({ code: "custom", path: [flag], message: `${value} is the port of --${owner} too: choose another` });
  }
});

export type StackConfig = z.infer<typeof stackConfigSchema>;
