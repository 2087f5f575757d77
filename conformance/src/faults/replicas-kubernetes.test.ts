import { kubernetesSkipReason } from "@flyte-ts/testing";
import { describe } from "vitest";
import { replicaRounds } from "./replica-rounds.js";
import { startStackOnKubernetes } from "../stack/stack-fixture.js";

const unavailable = await kubernetesSkipReason();

describe.skipIf(unavailable)("on a real kube-apiserver", () => {
  replicaRounds(startStackOnKubernetes);
});
