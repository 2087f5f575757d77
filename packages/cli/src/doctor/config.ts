import { z } from "zod";

/** What the doctor looks at: whatever is named. The names are those of the flags. */
export const doctorConfigSchema = z.strictObject({
  /** Admin's address as clients use it: `host:port` or `https://host`. */
  admin: z.string().optional(),
  /** Database of a service, `postgresql://user:password@host/name`. */
  database: z.string().optional(),
  /** Message bus, `nats://user:password@host:4222`. */
  nats: z.string().optional(),
  /** Where data stands, `s3://bucket/prefix`. Keys are those of the environment. */
  blobs: z
    .string()
    .regex(/^(s3|file):\/\/./, "a place for blobs is named as s3://bucket or s3://bucket/prefix")
    .optional(),
  /** Address of the S3 service; absent: AWS. */
  s3: z.string().optional(),
  region: z.string().default("us-east-1"),
  /** A data plane. */
  kubeconfig: z.string().optional(),
  context: z.string().optional(),
  /** Look at the cluster in which this runs. */
  inCluster: z.boolean().default(false),
  /** Where services and Leases are. */
  namespace: z.string().default("flyte"),
  /** How long a check may take, seconds. */
  patience: z.number().positive().default(10),
});

export type DoctorConfig = z.infer<typeof doctorConfigSchema>;
