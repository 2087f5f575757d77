// Kubernetes
export { compactEtcd, type EtcdOptions, findEtcd, startEtcd } from "./kubernetes/etcd.js";
export { findKubeApiserver, type KubeApiserver, type KubeApiserverOptions, startKubeApiserver } from "./kubernetes/kube-apiserver.js";
export { type ControllerManagerOptions, findControllerManager, startControllerManager } from "./kubernetes/kube-controller-manager.js";
export { findKwok, type KwokOptions, startKwok } from "./kubernetes/kwok.js";
export { type SingleNodeCluster, type SingleNodeOptions, startSingleNodeCluster } from "./single-node/cluster.js";
export type { ImageSpec } from "./single-node/oci-archive.js";
export { missingNodeRequirements } from "./single-node/requirements.js";
export { startScheduler } from "./single-node/scheduler.js";

// Operators
export { DASK_DEFINITIONS, type DaskOperatorOptions, findDaskOperator, startDaskOperator } from "./operator/dask-operator.js";
export { type CustomResourceDefinition, uncheckedDefinition } from "./operator/definitions.js";
export { findRayOperator, rayDefinitions, type RayOperatorOptions, startRayOperator } from "./operator/ray-operator.js";
export {
  findTrainingOperator,
  type OperatorOptions,
  startTrainingOperator,
  trainingDefinitions,
} from "./operator/training-operator.js";

// Blob stores
export { type AzuriteOptions, findAzurite, startAzurite } from "./blob/azurite.js";
export { type FakeGcsServerOptions, findFakeGcsServer, startFakeGcsServer } from "./blob/fake-gcs-server.js";
export { findVersitygw, startVersitygw, type VersitygwOptions } from "./blob/versitygw.js";

// Services of clouds
export { startMoto } from "./cloud/moto.js";
export { findSparkPython, type SparkThriftServerOptions, startSparkThriftServer } from "./cloud/spark-thrift-server.js";

// Programs
export { CHROMIUM_ARGS, findChromium, findHeadlessChromium } from "./program/chromium.js";
export { findFlytectl } from "./program/flytectl.js";
export { findHelm } from "./program/helm.js";
export type { InstallOptions } from "./program/install-options.js";
export { findPrometheusOperatorDefinitions } from "./program/prometheus-operator.js";
export { findSparkSubmit } from "./program/spark-submit.js";
