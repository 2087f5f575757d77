import { z } from "zod";

const port = z.number().int().min(0).max(65_535);

/** Settings of the local stack; the names are those of the flags. */
const settings = z.strictObject({
  /** Folder of all state. Default: `.flyte-ts` in the repository. */
  data: z.string().min(1, "the name of a folder is needed").optional(),
  /** API: gRPC and REST. flytekit looks for a sandbox on 30080. */
  port: port.default(30_080),
  /** Blob store (S3 API). flytekit looks for the sandbox's on 30002. */
  blobPort: port.default(30_002),
  /** Kubernetes API of the local cluster; 0 takes a free port and keeps it. */
  clusterPort: port.default(0),
  /** Use this Kubernetes cluster in place of the local one. Without `host` it should have no nodes: this machine becomes its node. */
  kubeconfig: z.string().optional(),
  /**
   * Address of this machine by which pods on the nodes of that cluster reach it: the API and the blob store listen there, and no task
   * runs as a process here. Without `auth` whoever reaches that address may do everything.
   */
  host: z.union([z.ipv4(), z.ipv6()], { error: "the host is an IP address of this machine" }).optional(),
  /**
   * Address of an S3 service to use in place of the local blob store; its keys are those of the usual variables
   * `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`.
   */
  s3: z.url({ protocol: /^https?$/, error: "the address of an S3 service is a URL: http://host:port or https://host" }).optional(),
  /** Where all data stands. The local blob store makes it; of another S3 service it must be there. */
  bucket: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "a bucket is named by 3 to 63 small letters, digits, dots and hyphens")
    .default("my-s3-bucket"),
  /** Run services from their bundles, which `npm run build` makes, rather than module by module: they start in half the time. */
  bundles: z.boolean().default(false),
  /** Requirements file of pip: its packages are installed into a Python environment of this stack alone, which tasks use. */
  requirements: z.string().optional(),
  /** Replicas of propeller, which share out the workflows. */
  propellers: z.number().int().min(1).max(8).default(1),
  /** Run the training example once the stack is ready. */
  example: z.boolean().default(true),
  /** End after the example, with its outcome as exit status. */
  exit: z.boolean().default(false),
  /** Ask callers who they are: admin issues the tokens, and user `admin` gets a password that is written to a file of the state. */
  auth: z.boolean().default(false),
  logLevel: z.enum(["trace", "debug", "info", "warn", "error"]).default("info"),
});

/** Flags whose ports must differ, since their listeners share an address. */
const PORT_FLAGS = ["port", "blobPort", "clusterPort"] as const;

export const stackConfigSchema = settings.superRefine((config, context) => {
  const owners = new Map<number, string>();
  for (const flag of PORT_FLAGS) {
    const named = config[flag];
    const unused =
      named === 0 || (flag === "blobPort" && config.s3 !== undefined) || (flag === "clusterPort" && config.kubeconfig !== undefined);
    if (unused) continue;
    const owner = owners.get(named);
    if (owner === undefined) owners.set(named, flag);
    else context.addIssue({ code: "custom", path: [flag], message: `${named} is the port of --${owner} too: choose another` });
  }
});

export type StackConfig = z.infer<typeof stackConfigSchema>;
