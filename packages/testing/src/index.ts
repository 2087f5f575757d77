export { kubernetesFixture, type KubernetesFixture, type KubernetesFixtureOptions, kubernetesUnavailable } from "./kubernetes.js";
export { natsFixture, postgresFixture, type ServerFixture } from "./servers.js";
