import { type ListeningSocket, listeningSockets, socketsOf } from "../stack/sockets.js";
import { processesOf } from "../stack/stack-fixture.js";

/** A TCP port on which a process of a stack accepts connections. */
export interface Listener extends ListeningSocket {
  /** Program or configuration file of the process, from its command line. */
  readonly name: string;
  readonly pid: number;
}

/** Finds all listeners of the processes that belong to a stack's folder. */
export function listenersOf(folder: string): Listener[] {
  const bySocket = new Map(listeningSockets().map((socket) => [socket.inode, socket]));
  return processesOf(folder).flatMap(({ pid, command }) =>
    socketsOf(pid).flatMap((inode) => {
      const found = bySocket.get(inode);
      return found === undefined ? [] : [{ name: nameOf(command, folder), pid, ...found }];
    }),
  );
}

function nameOf(command: string, folder: string): string {
  const config = /--config \S*\/([a-z0-9-]+)\.yaml/.exec(command)?.[1];
  return config ?? command.replaceAll(folder, "").slice(0, 60);
}
