export { startNats, type NatsOptions } from "./nats.js";
export { startPostgres, type PostgresOptions } from "./postgres.js";
export { compactEtcd, type EtcdOptions, findEtcd, startEtcd } from "./etcd.js";
export {
  type ControllerManagerOptions,
  findControllerManager,
  findKubeApiserver,
  type KubeApiserver,
  type KubeApiserverOptions,
  startControllerManager,
  startKubeApiserver,
} from "./kube-apiserver.js";
export { findFlytectl } from "./flytectl.js";
export { findVersitygw, startVersitygw, type VersitygwOptions } from "./versitygw.js";
export { type Guard, isGuard, startGuard } from "./guard.js";
export { ServerStartError, type LocalServer } from "./server-process.js";
export { freePort, portInUse } from "./free-port.js";
export { exclusively } from "./exclusively.js";
