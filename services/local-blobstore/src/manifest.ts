import { defineService } from "@flyte-ts/service-manifest";

export const manifest = defineService({
  id: "local-blobstore",
  description: "Serves a subset of the S3 API over a directory of one machine.",
  plane: "local",
  opsPort: 10_262,
});
