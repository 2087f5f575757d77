import { defineService } from "@flyte-ts/service-manifest";

export const manifest = defineService({
  id: "datacatalog",
  description: "Maps cache keys to outputs, and grants reservations to the execution that computes them.",
  plane: "control",
  ports: [{ name: "grpc", containerPort: 8089, servicePort: 89, appProtocol: "kubernetes.io/h2c" }],
  opsPort: 10_258,
  requires: {
    database: { name: "datacatalog", backupPosition: 2 },
    blobStore: {},
  },
  auth: "verifier",
  kubernetes: {
    name: "datacatalog",
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "512Mi" } },
  },
  settings: {
    kubernetes: { server: { host: "0.0.0.0", grpcPort: 8089 } },
    compose: {
      server: { host: "0.0.0.0", grpcPort: 8081, openToNetwork: true, allowedHosts: ["datacatalog"] },
      storage: { container: "s3://my-s3-bucket" },
    },
    stack: ({ catalogPort, bucket }) => ({
      server: { host: "127.0.0.1", grpcPort: catalogPort },
      storage: { container: `s3://${bucket}` },
    }),
  },
  metricsPrefix: "flyte_datacatalog_",
});
