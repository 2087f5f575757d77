import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/** Start of a connection of HTTP/2, which gRPC uses. */
const PREFACE = "PRI";

/** Ports of this machine. */
interface Ports {
  /** Port that serves both. */
  readonly joined: number;
  readonly grpc: number;
  readonly rest: number;
}

/**
 * Serves gRPC and REST at one port of this machine, as the ingress of an installation of Go Flyte
 * does: FlyteAdmin without TLS has a port for each. Serves in a thread of its own, because the
 * drivers wait for commands synchronously.
 *
 * @returns a function that ends it
 */
export async function joinPorts(ports: Ports): Promise<() => Promise<void>> {
  const worker = new Worker(new URL(import.meta.url), { workerData: ports });
  await once(worker, "message");
  return async () => void (await worker.terminate());
}

function forward(client: Socket, { grpc, rest }: Ports): void {
  client.on("error", () => client.destroy());
  client.once("data", (first) => {
    client.pause();
    const server = connect(first.toString("latin1").startsWith(PREFACE) ? grpc : rest, "127.0.0.1");
    server.on("error", () => client.destroy());
    client.on("close", () => server.destroy());
    server.write(first);
    client.pipe(server).pipe(client);
  });
}

if (!isMainThread) {
  const ports = workerData as Ports;
  createServer((client) => forward(client, ports)).listen(ports.joined, "127.0.0.1", () => parentPort?.postMessage("listening"));
}
