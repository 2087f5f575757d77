import { defineService } from "@flyte-ts/service-manifest";

export const manifest = defineService({
  id: "copilot",
  description: "Transfers inputs and outputs in the pods of raw containers.",
  plane: "sidecar",
});
