import { z } from "zod";

/** Endpoints to check; each one that is set enables its check. Keys are the names of the flags. */
export const doctorConfigSchema = z.strictObject({
  /** Address of admin for clients: `host:port` or `https://host`. */
  admin: z.string().optional(),
  /** Database of a service, `postgresql://user:password@host/name`. */
  database: z.string().optional(),
  /** Message bus, `nats://user:password@host:4222`. */
  nats: z.string().optional(),
  /** Address of the data, `s3://bucket/prefix`. Credentials are those of the environment. */
  blobs: z
    .string()
    .regex(
      /^(s3|gs|abfss?|file):\/\/./,
      "a place for blobs is named as s3://bucket/prefix, gs://bucket/prefix, abfs://container/prefix or file:///folder",
    )
    .optional(),
  /** Address of the S3 service; absent: AWS. */
  s3: z.string().optional(),
  /** Absent: AWS_REGION of the environment, else us-east-1. */
  region: z.string().optional(),
  /** Azure's storage account; absent: AZURE_STORAGE_ACCOUNT_NAME of the environment. */
  azureAccount: z.string().optional(),
  /** Address of its blob service; absent: the public cloud's. */
  azure: z.string().optional(),
  /** Address of a GCS emulator, which needs no credentials; absent: Google's service. */
  gcs: z.string().optional(),
  /** Kubeconfig of a data plane. */
  kubeconfig: z.string().optional(),
  context: z.string().optional(),
  /** Check the cluster in which this runs. */
  inCluster: z.boolean().default(false),
  /** Namespace of services and Leases. */
  namespace: z.string().default("flyte"),
  /** Timeout of a check, seconds. */
  patience: z.number().positive().default(10),
});

export type DoctorConfig = z.infer<typeof doctorConfigSchema>;
