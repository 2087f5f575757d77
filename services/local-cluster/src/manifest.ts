import { defineService } from "@flyte-ts/service-manifest";

export const manifest = defineService({
  id: "local-cluster",
  description: "Serves a subset of the Kubernetes API, and runs pods as processes of one machine.",
  plane: "local",
  // Python and flytekit are part of the image: tasks run in its container.
  image: { name: "cluster", target: "cluster" },
});
