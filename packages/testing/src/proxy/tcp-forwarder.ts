import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { pairSockets } from "./pair-sockets.js";

/** Forwards connections of one local port to another that may change. */
export interface TcpForwarder {
  readonly port: number;
  /** Forwards new connections to this port, and closes those to the previous one. */
  setTarget(port: number): void;
  stop(): Promise<void>;
}

export async function startTcpForwarder(firstTarget: number): Promise<TcpForwarder> {
  const sockets = new Set<Socket>();
  let target = firstTarget;
  const listener = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    pairSockets(client, upstream, sockets);
    client.pipe(upstream).pipe(client);
  });
  const closeAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (listener.address() as AddressInfo).port,
    setTarget: (port) => {
      target = port;
      closeAll();
    },
    stop: () =>
      new Promise((resolve) => {
        listener.close(() => resolve());
        closeAll();
      }),
  };
}
